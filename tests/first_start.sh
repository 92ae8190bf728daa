#!/usr/bin/env bash
# README's first command on a machine that has nothing of axi: a clean clone, an empty home, no key. Prints a transcript
# of the terminal and the times: build, fetch, first token, whole answer, then the second start.
#
#   bash tests/first_start.sh [KEPT]
#
# With KEPT, a directory, what was built and fetched stays there and is used again (the times are then those of a warm
# start, and said to be). Needs tmux, git and a network for crates and weights; takes minutes: no part of tests/run.
# AXI=/path/to/axi leaves the clone and the build out.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
repository=$PWD
for program in tmux git; do
  command -v "$program" >/dev/null || { echo "$program is missing: apt-get install $program"; exit 1; }
done

work=$(mktemp -d "${TMPDIR:-/tmp}/axi-first.XXXXXX")
socket=$work/tmux
# shellcheck source=tests/own_tmux.sh disable=SC1091
source tests/own_tmux.sh
home=${1:-$work}/home
[[ -d $home/.cache/axi ]] && echo "warm: $home has been used before"
mkdir -p "$home"
home=$(realpath "$home")

seconds() { printf '%d.%02d s' $(($1 / 1000)) $(($1 % 1000 / 10)); }

question="what is in this directory?"
axi=${AXI:+$(realpath "$AXI")}
git clone -q "$repository" "$work/clone" && cd "$work/clone" || exit 1
if [[ -z $axi ]]; then
  # The toolchain is where it was; everything else is of the empty home.
  begun=$(now)
  env -u RUSTFLAGS CARGO_TARGET_DIR="${1:-$work}/target" cargo build --release --locked 2>&1 | tail -2
  echo "build: $(seconds $(($(now) - begun)))"
  axi=${1:-$work}/target/release/axi
fi
axi=$(realpath "$axi")
[[ -x $axi ]] || { echo "there is no $axi"; exit 1; }

# clean COMMAND…: with an empty home and no key
clean() { env -i HOME="$home" PATH="$PATH" TERM=xterm-256color LANG=C.UTF-8 SHELL=/bin/bash "$@"; }
screen() { tmux -S "$socket" capture-pane -p -S - -t first; }
# waits SECONDS PATTERN: for a row that matches
waits() {
  local step
  for ((step = 0; step < $1 * 20; step++)); do
    screen | grep -qE -- "$2" && return 0
    sleep 0.05
  done
  echo "never saw: $2"
  return 1
}

begun=$(now)
# shellcheck disable=SC2016 # expanded by the shell inside
clean tmux -S "$socket" -f /dev/null new-session -d -s first -x 100 -y 40 "exec '$axi' '$question'"
if waits 10 '^❯ 1  local/'; then
  tmux -S "$socket" send-keys -t first Enter
  begun=$(now)
  waits 3600 'of memory$|error:' && echo "fetch: $(seconds $(($(now) - begun)))"
  begun=$(now)
fi
# answers: waits for the prompt, and agrees to what is asked
answers() {
  local step
  for ((step = 0; step < 3000; step++)); do
    screen | tail -20 | grep -qE "^❯ .*Yes" && tmux -S "$socket" send-keys -t first y && sleep 1
    [[ $(screen | grep -v '^$' | tail -1) == *local*'❯' ]] && return
    sleep 0.1
  done
  echo "the prompt never came back"
}
# The status row counts what is written; behind a call it says what is done.
waits 300 '· [0-9]+ tokens|^[✓✗]|^❯ .*Yes' && echo "first token after: $(seconds $(($(now) - begun)))"
answers
echo "whole answer after: $(seconds $(($(now) - begun)))"
# Looking needs no yes; this does.
tmux -S "$socket" send-keys -t first -l "make a directory called notes"
tmux -S "$socket" send-keys -t first Enter
begun=$(now)
waits 300 '^❯ .*Yes' && echo "asked after: $(seconds $(($(now) - begun)))"
answers
[[ -d notes ]] && echo "the approved call was run: notes/ is there"
echo "transcript:"
screen | grep -v '^$' | sed 's/^/  | /'
tmux -S "$socket" kill-server

# asks LABEL QUESTION: times of one start in a pipe
asks() {
  local begun first="" line
  begun=$(now)
  while IFS= read -r line; do
    [[ -z $first && $line == *'"text_delta"'* ]] && first=$(($(now) - begun))
  done < <(clean "$axi" -p --no-session --output stream-json "$2" 2>/dev/null </dev/null)
  [[ -n $first ]] && echo "$1: first token $(seconds "$first"), all $(seconds $(($(now) - begun)))"
}
asks "second start" "what does tar -x do? one sentence"
asks "third start" "what does tar -x do? one sentence"
