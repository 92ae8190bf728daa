#!/usr/bin/env bash
# What a shell's hook costs: CPU added to a shell's start when it is sourced from a file, and CPU at each prompt.
#
#   bash benches/hooks.sh AXI [RUNS]      AXI: the program; zoxide is measured beside it where it is installed
#
# Starts: RUNS interactive shells in a pseudo-terminal (util-linux script) with an empty start-up file, and as many
# with the hook; user + system time of all processes, the difference by RUNS. Prompts: 2000 rounds of the hook's own
# functions in one shell, /proc/PID/schedstat before and after; processes they start are not in it.
set -euo pipefail
axi=${1:?usage: bash benches/hooks.sh AXI [RUNS]}
runs=${2:-50}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder XDG_RUNTIME_DIR=$folder XDG_CONFIG_HOME=$folder XDG_STATE_HOME=$folder XDG_DATA_HOME=$folder TERM=xterm
unset AXI_SESSION AXI_HOOK

# starts SHELL FILE: milliseconds of CPU for one start with FILE sourced.
starts() {
  local shell=$1 file=$2 command user system
  case $shell in
  zsh) command="zsh -f -i" ;;
  bash) command="bash --noprofile --norc -i" ;;
  fish) command="fish --no-config -i" ;;
  esac
  printf 'source %s\nexit\n' "$file" >"$folder/typed"
  case $shell in
  zsh) printf 'source %s\nexit\n' "$file" >"$folder/.zshrc" && command="zsh -i" ;;
  bash) printf 'source %s\nexit\n' "$file" >"$folder/rc" && command="bash --noprofile --rcfile $folder/rc -i" ;;
  fish) command="fish -i --init-command 'source $file; exit'" ;;
  esac
  local TIMEFORMAT='%U %S'
  read -r user system < <({ time for ((run = 0; run < runs; run++)); do
    script -qec "$command" /dev/null >/dev/null </dev/null
  done; } 2>&1)
  awk -v user="$user" -v kernel="$system" -v runs="$runs" 'BEGIN { print (user + kernel) * 1000 / runs }'
}

added() {
  local base with
  : >"$folder/nothing"
  base=$(starts "$1" "$folder/nothing")
  with=$(starts "$1" "$2")
  awk -v base="$base" -v with="$with" -v name="$3" 'BEGIN { printf "%-22s %6.2f ms a start (%.2f, bare %.2f)\n", name, with - base, with, base }'
}

# shellcheck disable=SC2016 # the shells under test read these texts
# prompts SHELL FILE ROUND NAME: microseconds of CPU for one ROUND of functions.
prompts() {
  local shell=$1 file=$2 round=$3 name=$4
  case $shell in
  zsh) printf 'source %s\nread before rest </proc/$$/schedstat\nfor i in {1..2000}; do %s; done\nread after rest </proc/$$/schedstat\nprint -r -- "microseconds $(((after - before) / 2000000.0))"\nexit\n' "$file" "$round" >"$folder/.zshrc" && shell="zsh -i" ;;
  bash) printf 'source %s\nread before rest </proc/$$/schedstat\nfor i in {1..2000}; do %s; done\nread after rest </proc/$$/schedstat\necho "microseconds $(((after - before) / 2000000)).$(((after - before) / 20000 %% 100))"\nexit\n' "$file" "$round" >"$folder/rc" && shell="bash --noprofile --rcfile $folder/rc -i" ;;
  esac
  printf '%-22s %s\n' "$name" "$(script -qec "$shell" /dev/null </dev/null | tr -d '\r' | grep -a -o 'microseconds.*')"
}

for shell in zsh bash fish; do
  command -v "$shell" >/dev/null || continue
  "$axi" init "$shell" >"$folder/axi.$shell"
  added "$shell" "$folder/axi.$shell" "$shell: axi"
  if command -v zoxide >/dev/null; then
    zoxide init "$shell" >"$folder/zoxide.$shell"
    added "$shell" "$folder/zoxide.$shell" "$shell: zoxide"
  fi
done
prompts zsh "$folder/axi.zsh" '_axi_preexec true true true; _axi_precmd' "zsh: axi, a prompt"
# shellcheck disable=SC2016 # bash reads it
prompts bash "$folder/axi.bash" ': "${PS0@P}"; __axi_prompt' "bash: axi, a prompt"
