#!/usr/bin/env bash
# What the scripts share that time axi in a terminal: a tmux of their own, which goes when they end, and a clock. To be
# sourced by who has set $work, a folder of its own, and $socket in it.
stop() {
  # shellcheck disable=SC2154
  tmux -S "$socket" kill-server 2>/dev/null
  # shellcheck disable=SC2154
  rm -rf "$work"
}
trap stop EXIT

# now: in milliseconds
now() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
