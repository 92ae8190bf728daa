#!/usr/bin/env bash
# What a shell's hook costs: CPU added to a shell's start when it is sourced from a file, and CPU at each prompt.
#
#   bash benches/hooks.sh AXI [ROUNDS]      AXI: the program. zoxide and atuin are measured beside it where they are
#                                           installed. Linux only: it reads /proc.
#
# A start: an interactive shell in a pseudo-terminal (util-linux script) whose start-up file sources the hook, or an
# empty file, from exec until the first prompt waits for a key. Then /proc/PID/task/*/schedstat says what it has spent,
# to the nanosecond: the kernel brings that number up to date when a process goes to sleep. In each of ROUNDS every file
# has its turn, and what counts is the difference to the empty one of the same round: the median of these, with the 95 %
# interval of a median (order statistics), so a neighbour's burst on the machine moves nothing.
# A prompt: in the same shell then 100 times `:` and Enter, what that costs divided by 100, the difference to the empty
# file again: all that a hook hangs on a prompt. Processes that a hook starts (atuin does) are not counted.
set -euo pipefail
axi=${1:?usage: bash benches/hooks.sh AXI [ROUNDS]}
rounds=${2:-40}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder ZDOTDIR=$folder XDG_RUNTIME_DIR=$folder XDG_CONFIG_HOME=$folder XDG_STATE_HOME=$folder XDG_DATA_HOME=$folder TERM=xterm
unset AXI_SESSION AXI_HOOK
mkfifo "$folder/keys"
exec 8<>"$folder/keys" # Nobody writes there: a read with a limit is a pause without a process.

# spent PID: nanoseconds of CPU of all its threads, once they all sleep. Sets $nanoseconds.
spent() {
  local file sum one rest before=-1
  while true; do
    sum=0
    for file in "/proc/$1/task"/*/schedstat; do
      read -r one rest <"$file" && sum=$((sum + one))
    done
    if ((sum == before)); then break; fi
    before=$sum
    read -rt 0.02 -u 8 rest || :
  done
  nanoseconds=$sum
}

# start SHELL FILE: starts it and enters some commands. Sets $started and $prompted to the nanoseconds of the start and
# of one command.
start() {
  local shell=$1 file=$2 count command line pid=
  case $shell in
  zsh) command="zsh -d -i" && printf 'PS1="@@ "\nsource %s\nprint pid=$$.\n' "$file" >"$folder/.zshrc" ;;
  bash) command="bash --noprofile --rcfile $folder/rc -i" && printf 'PS1="@@ "\nsource %s\necho pid=$$.\n' "$file" >"$folder/rc" ;;
  fish) command="fish -i --init-command 'function fish_prompt; echo \"@@ \"; end; function fish_greeting; end; source $file; echo pid=\$fish_pid.'" ;;
  esac
  coproc terminal { exec script -qec "$command" /dev/null 2>&1; }
  # shellcheck disable=SC2154 # coproc sets it
  local script=$terminal_PID from=${terminal[0]} to=${terminal[1]}
  while IFS= read -rt 20 -u "$from" -d . line; do
    if [[ $line == *pid=* ]]; then pid=${line##*pid=} && break; fi
  done
  spent "$pid"
  started=$nanoseconds
  while IFS= read -rt 0.01 -u "$from" -d '' -n 4096 line; do :; done
  for ((count = 0; count < 100; count++)); do
    printf ':\r' >&"$to"
    # The next one when its prompt is there.
    IFS= read -rt 20 -u "$from" -d @ line || :
    IFS= read -rt 20 -u "$from" -d @ line || :
  done
  spent "$pid"
  prompted=$(((nanoseconds - started) / 100))
  kill -KILL "$pid" && while read -rt 20 -u "$from" line; do :; done
  wait "$script" || :
}

# Reads differences in milliseconds, one a line: median, and the interval in which the median lies with 95 %.
median() {
  sort -g | awk '{ at[NR] = $1 } END {
    reach = 0.98 * sqrt(NR)
    low = int(NR / 2 - reach); high = int(NR / 2 + reach + 1)
    if (low < 1) low = 1
    if (high > NR) high = NR
    printf "%8.4f ms (%.4f to %.4f, %d rounds)\n", at[int((NR + 1) / 2)], at[low], at[high], NR
  }'
}

for shell in zsh bash fish; do
  command -v "$shell" >/dev/null || continue
  : >"$folder/nothing.hook"
  names=(nothing)
  for program in axi zoxide atuin; do
    path=$program
    if [[ $program == axi ]]; then path=$axi; elif ! command -v "$program" >/dev/null; then continue; fi
    "$path" init "$shell" >"$folder/$program.hook" && names+=("$program")
  done
  rm -f "$folder"/*.start "$folder"/*.prompt
  for ((round = 0; round < rounds; round++)); do
    for ((turn = 0; turn < ${#names[@]}; turn++)); do
      name=${names[(turn + round) % ${#names[@]}]}
      start "$shell" "$folder/$name.hook"
      echo "$started" >>"$folder/$name.start"
      echo "$prompted" >>"$folder/$name.prompt"
    done
  done
  for name in "${names[@]:1}"; do
    for what in start prompt; do
      printf '%-5s a %-7s %-7s' "$shell" "$what" "$name"
      paste "$folder/$name.$what" "$folder/nothing.$what" | awk '{ print ($1 - $2) / 1e6 }' | median
    done
  done
done
