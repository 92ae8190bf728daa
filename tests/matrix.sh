#!/usr/bin/env bash
# The contract of the shells' hooks as a table: shell, case, in a pseudo-terminal and inside tmux.
#
#   bash tests/matrix.sh [--plugins FOLDER] [SHELL=PROGRAM…]     SHELL: zsh, bash, fish; PROGRAM: another version of it
#
# The checks are those of the suite (tests/it/handoff_shells.rs, handoff_hooks.rs, handoff_plugins.rs); this prints
# which of them held. FOLDER holds plugins, as handoff_plugins.rs names them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
while (($# > 0)); do
  case $1 in
  --plugins) export AXI_TEST_PLUGINS=$2 && shift ;;
  zsh=*) export AXI_TEST_ZSH=${1#*=} ;;
  bash=*) export AXI_TEST_BASH=${1#*=} ;;
  fish=*) export AXI_TEST_FISH=${1#*=} ;;
  *) sed -n 4p "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
  esac
  shift
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT
code=0
cargo test --locked --test it -- handoff_ --nocapture >"$log" 2>&1 || code=$?
for shell in zsh bash fish; do
  name=AXI_TEST_${shell^^}
  program=${!name:-$shell}
  # shellcheck disable=SC2016 # the shells read it
  command -v "$program" >/dev/null && echo "$shell: $("$program" --version | head -n 1)"
done
echo
echo '| case | zsh | zsh, tmux | bash | bash, tmux | fish | fish, tmux |'
echo '| --- | --- | --- | --- | --- | --- | --- |'
awk -F ' [|] ' '
  $1 ~ /holds$/ {
    if (!($4 in known)) { known[$4] = 1; order[++count] = $4 }
    held[$4, $2, $3] = "holds"
  }
  END {
    for (i = 1; i <= count; i++) {
      row = "| " order[i]
      for (s = 1; s <= split("zsh bash fish", shells, " "); s++)
        for (p = 1; p <= split("pty tmux", places, " "); p++) {
          found = held[order[i], shells[s], places[p]]
          row = row " | " (found ? found : "–")
        }
      print row " |"
    }
  }' "$log"
grep -aE '^skipped: |^test .*FAILED|^test result' "$log" | sort -u || :
exit "$code"
