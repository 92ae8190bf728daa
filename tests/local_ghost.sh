#!/usr/bin/env bash
# How long ghost text from the small model takes: from the last key to the first grey letter, in a real terminal.
#
#   [HISTORY=file [UNSEEN=file]] bash tests/local_ghost.sh
#
# HISTORY has lines a person has said, oldest first; without it the history is empty, and next to nothing is sure
# enough to be shown. UNSEEN has lines that follow, what is typed and how it goes on in truth with a tab between: then
# how many of those shown are right is told too. Right is what is shown if the line goes on so, as far as it is shown.
# Prints each line's time and the median. The wait before a model is asked at all (400 ms after the last key) is in it
# and told apart. AXI=/path/to/axi is the build (target/release/axi), MODEL=local/… the model (the 0.5B, which must be
# on this machine: axi local pull qwen2.5-coder-0.5b). Needs tmux; no part of tests/run.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
axi=$(realpath "${AXI:-target/release/axi}")
model=${MODEL:-local/qwen2.5-coder-0.5b}
[[ -x $axi ]] || { echo "$axi is missing: cargo build --release"; exit 1; }
work=$(mktemp -d "${TMPDIR:-/tmp}/axi-ghost.XXXXXX")
socket=$work/tmux
# shellcheck source=tests/own_tmux.sh disable=SC1091
source tests/own_tmux.sh
row() { tmux -S "$socket" capture-pane -p -t ghost | grep -v '^$' | tail -1; }

# A history without the lines that are typed: those would be answered from it.
mkdir -p "$work/state/axi" "$work/config"
if [[ -n ${HISTORY:-} ]]; then
  python3 - "$HISTORY" >"$work/state/axi/history.jsonl" <<'P' || exit 1
import json, sys
for at, line in enumerate(open(sys.argv[1], encoding="utf-8").read().splitlines()):
    print(json.dumps({"t": 1_700_000_000_000 + at * 60_000, "d": "/", "l": line}, ensure_ascii=False))
P
fi
lines=("list all fi" "which command sh" "how do I undo my last com" "find the largest fi" "count the lines of"
  "show the last ten li" "rename all the pic" "what does this err" "explain the fun" "run the te")
[[ -z ${UNSEEN:-} ]] || mapfile -t lines <"$UNSEEN"
tmux -S "$socket" -f /dev/null new-session -d -s ghost -x 120 -y 30 "exec env XDG_STATE_HOME='$work/state' \
  XDG_CONFIG_HOME='$work/config' AXI_SUGGEST_MODEL='$model' '$axi' --no-session -m '$model'"
for ((step = 0; step < 100; step++)); do
  [[ $(row) == *'❯' ]] && break
  sleep 0.1
done
times=()
right=0
for both in "${lines[@]}"; do
  line=${both%%$'\t'*} truth=
  [[ $both == *$'\t'* ]] && truth=${both#*$'\t'}
  tmux -S "$socket" send-keys -t ghost C-c
  sleep 0.5
  tmux -S "$socket" send-keys -t ghost -l "$line"
  begun=$(now)
  for ((step = 0; step < 300; step++)); do
    found=$(row)
    [[ $found == *"$line"?* ]] && break
    sleep 0.005
  done
  took=$(($(now) - begun))
  if [[ $found == *"$line"?* ]]; then
    times+=("$took")
    # It grows while it is written: what it says in the end is judged.
    [[ -z $truth ]] || { sleep 1; found=$(row); }
    shown=${found#*"$line"} mark=
    if [[ -n $truth ]]; then
      mark='✗'
      [[ $truth == "$shown"* ]] && mark='✓' && ((right++))
    fi
    printf '%5d ms  %s %s\n' "$took" "${found##*❯ }" "$mark"
  else
    printf '    –     %s\n' "$line"
  fi
done
((${#times[@]})) || { echo "no ghost text"; exit 1; }
[[ -z ${UNSEEN:-} ]] || echo "right: $right of ${#times[@]} shown, of ${#lines[@]} typed"
mapfile -t times < <(printf '%s\n' "${times[@]}" | sort -n)
median=${times[$((${#times[@]} / 2))]}
echo "median of ${#times[@]}: $median ms; $((median - 400)) ms of it the model, the terminal and tmux"
