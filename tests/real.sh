#!/usr/bin/env bash
# End to end against a real model on a real server: what a person sees, by `axi -p` and in the REPL under tmux.
#
#   bash tests/real.sh
#
# A server that answers on port 18081 is used; else ../shared/real/serve.sh is started and stopped again (its first
# run fetches 1.1 GB and builds for minutes, so this is no part of tests/run). Prints what it saw and a line a check;
# the last line says how many passed. AXI=/path/to/axi checks another build.
#
# The model is small and not always right. A check that hangs on its choosing a tool is tried three times, and the
# attempts are printed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
repository=$PWD
port=18081
base=http://127.0.0.1:$port
passed=0 failed=0

work=$(mktemp -d "${TMPDIR:-/tmp}/axi-real.XXXXXX")
socket=$work/tmux
server=
stop() {
  tmux -S "$socket" kill-server 2>/dev/null
  [[ -z $server ]] || kill -- "-$server" 2>/dev/null
  rm -rf "$work"
}
trap stop EXIT

say() { printf '%s\n' "$*"; }
shown() { sed 's/^/    | /' "$@"; }
check() { # NAME COMMAND…: counts and prints whether COMMAND succeeds
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    say "PASS $name"
  else
    failed=$((failed + 1))
    say "FAIL $name"
  fi
}

for program in tmux curl; do
  command -v "$program" >/dev/null || { say "$program is missing: apt-get install $program"; exit 1; }
done

answers() { curl -fsS -m 5 "$base/v1/models" >/dev/null 2>&1; }
if answers; then
  say "using the server on port $port"
elif [[ -f ../shared/real/serve.sh ]]; then
  say "starting ../shared/real/serve.sh"
  setsid bash ../shared/real/serve.sh 1.5b "$port" 2 >"$work/server.log" 2>&1 </dev/null &
  server=$!
  for ((second = 0; second < 1800; second++)); do
    answers && break
    kill -0 "$server" 2>/dev/null || break
    sleep 1
  done
  answers || { say "the server did not start:"; tail -5 "$work/server.log" | shown; exit 1; }
else
  say "skipped: no server on port $port, and ../shared/real is not here"
  exit 0
fi

axi=${AXI:-}
if [[ -z $axi ]]; then
  cargo build --release --locked || exit 1
  axi=$repository/target/release/axi
fi
"$axi" --version || exit 1

# An empty home and a small project, for each part its own.
project() {
  home=$work/$1/home
  place=$work/$1/project
  mkdir -p "$home" "$place"
  printf 'The password of the cellar is marzipan.\n' >"$place/secret.txt"
  printf '# Orchard\n\nA program that counts apples.\n' >"$place/README.md"
}
clean=(env -i "PATH=$PATH" "LANG=C.UTF-8" "TERM=xterm-256color")
openai() { (cd "$place" && timeout 900 "${clean[@]}" "HOME=$home" "OPENAI_BASE_URL=$base/v1" OPENAI_API_KEY=x "$axi" -m openai/qwen "$@" </dev/null); }
anthropic() { (cd "$place" && timeout 900 "${clean[@]}" "HOME=$home" "ANTHROPIC_BASE_URL=$base" ANTHROPIC_API_KEY=x "$axi" -m anthropic/qwen "$@" </dev/null); }

say
say "== print mode, text"
project text
openai -p "Reply with the one word hello." >"$work/out" 2>"$work/err"
code=$?
shown "$work/out" "$work/err"
check "openai-chat answers in text, exit 0" test "$code" = 0 -a -s "$work/out"
anthropic -p "Reply with the one word hello." >"$work/out" 2>"$work/err"
code=$?
shown "$work/out" "$work/err"
check "anthropic answers in text, exit 0" test "$code" = 0 -a -s "$work/out"

say
say "== print mode, streamed"
project stream
for attempt in 1 2 3; do
  openai -p --output stream-json "Write four lines about an apple tree. Use no tool." 2>"$work/err" |
    while IFS= read -r line; do printf '%s %s\n' "$EPOCHREALTIME" "$line"; done >"$work/out"
  grep -q '"type":"text_delta"' "$work/out" && break
  say "    attempt $attempt: the model called a tool instead"
done
head -4 "$work/out" | cut -c1-160 | shown
say "    | …"
tail -2 "$work/out" | cut -c1-160 | shown
deltas=$(grep -c '"type":"text_delta"' "$work/out")
spread=$(grep '"type":"text_delta"' "$work/out" | awk 'NR==1{first=$1} {last=$1} END{printf "%.2f", last-first}')
say "    $deltas deltas over $spread s"
check "the answer comes in pieces, over time" awk -v n="$deltas" -v s="$spread" 'BEGIN{exit !(n>5 && s>0.2)}'
check "the last event is the end of the turn" grep -q '"type":"turn_ended"' <(tail -1 "$work/out")

say
say "== print mode, one JSON object"
openai -p --output json "Reply with the one word hello." >"$work/out" 2>"$work/err"
code=$?
shown "$work/out" "$work/err"
one_object() {
  test "$code" = 0 || return 1
  if command -v jq >/dev/null; then jq -es 'length == 1 and (.[0] | type) == "object"' "$work/out" >/dev/null; else grep -q '^{.*}$' "$work/out"; fi
}
check "json prints one object" one_object

say
say "== print mode, a tool call approved beforehand"
tool_ran=1
for attempt in 1 2 3; do
  project "tool$attempt"
  openai -p -y --output stream-json "Run this shell command with the shell tool: cat secret.txt. Then tell me the password." >"$work/out" 2>"$work/err"
  say "attempt $attempt: exit $?"
  grep -E '"type":"(tool_|turn_ended)' "$work/out" | cut -c1-240 | shown
  if grep '"type":"tool_finished"' "$work/out" | grep -q marzipan; then
    tool_ran=0
    break
  fi
done
check "a tool ran and its result came back" test "$tool_ran" = 0
check "the turn ended after it" grep -q '"type":"turn_ended"' <(tail -1 "$work/out")

say
say "== print mode, an approval nobody can give"
refused=1
for attempt in 1 2 3; do
  project "refused$attempt"
  openai -p "Run this shell command with the shell tool: touch made.txt" >"$work/out" 2>"$work/err"
  code=$?
  say "attempt $attempt: exit $code"
  shown "$work/out" "$work/err"
  [[ ! -e $place/made.txt ]] || break
  if [[ $code == 5 ]]; then
    refused=0
    break
  fi
done
check "it ends with 5 and nothing was run" test "$refused" = 0

# --- the REPL ------------------------------------------------------------------------------------------------------
pane() { tmux -S "$socket" capture-pane -p -t axi -S - 2>/dev/null; }
show_pane() { pane | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' | tail -"${1:-30}" | shown; }
keys() { tmux -S "$socket" send-keys -t axi "$@"; }
ask() { keys -l "$1"; sleep 0.3; keys Enter; }
# until PATTERN SECONDS: waits until the pane's text matches
until_seen() {
  local limit=$((SECONDS + $2))
  while ((SECONDS < limit)); do
    pane | grep -Eq "$1" && return 0
    sleep 0.05
  done
  return 1
}
# The prompt stands on the last line that holds anything, and stays there.
at_prompt() { pane | grep -v '^ *$' | tail -1 | grep -Eq '❯ *$'; }
until_prompt() {
  local limit=$((SECONDS + $1)) calm=0
  while ((SECONDS < limit)); do
    if at_prompt; then
      calm=$((calm + 1))
      ((calm < 4)) || return 0
    else
      calm=0
    fi
    sleep 0.05
  done
  return 1
}
stopped() { ! grep -Eiq '^ *(300|three hundred)' <(pane); }
start_repl() {
  project "$1"
  tmux -S "$socket" -f /dev/null new-session -d -s axi -x 100 -y 30 -c "$place" \
    "${clean[@]}" "HOME=$home" "OPENAI_BASE_URL=$base/v1" OPENAI_API_KEY=x "$axi" -m openai/qwen
  until_prompt 20
}
end_repl() {
  keys C-d
  for ((count = 0; count < 40; count++)); do
    tmux -S "$socket" has-session -t axi 2>/dev/null || return 0
    sleep 0.05
  done
  tmux -S "$socket" kill-server 2>/dev/null
  return 1
}

say
say "== REPL: a question"
check "the prompt comes" start_repl question
ask "Reply with the one word hello."
sleep 0.5
check "the prompt comes back after the answer" until_prompt 600
show_pane
check "the answer is in the scrollback" grep -Eiq '^[^❯]*hello' <(pane | grep -v 'Reply with')

say
say "== REPL: ESC stops an answer, and the next message works"
ask "Count from 1 to 300 in words, one number a line."
check "the answer begins" until_seen '[Tt]hree' 600
before=$EPOCHREALTIME
keys Escape
check "ESC brings the prompt back" until_prompt 5
say "    $(awk -v a="$before" -v b="$EPOCHREALTIME" 'BEGIN{printf "%.2f", b-a}') s from ESC to a prompt that stays, by polling"
show_pane 12
check "it did stop" stopped
ask "Reply with the one word banana."
sleep 0.5
check "the next message is answered" until_prompt 600
show_pane 8
check "by what was asked" grep -Eiq '^[^❯]*banana' <(pane | grep -v 'Reply with')
check "Ctrl+D leaves" end_repl

say
say "== REPL: a tool call approved by hand"
approved=1
for attempt in 1 2 3; do
  start_repl "approve$attempt"
  ask "Run this shell command with the shell tool: touch made.txt"
  # The approval shows the command and waits; the first choice is to run it once.
  if until_seen '(Allow|allow|Run|Approve|approve).*\?|[Oo]nce' 300; then
    say "attempt $attempt, the approval:"
    show_pane 14
    [[ ! -e $place/made.txt ]] || say "    it ran before it was approved"
    early=$([[ -e $place/made.txt ]] && echo yes || echo no)
    keys Enter
    for ((count = 0; count < 100; count++)); do
      [[ ! -e $place/made.txt ]] || break
      sleep 0.1
    done
    if [[ -e $place/made.txt && $early == no ]]; then
      approved=0
      until_prompt 600
      say "after it:"
      show_pane 14
      end_repl
      break
    fi
  fi
  say "attempt $attempt: no approval of that command"
  show_pane 14
  keys Escape
  sleep 0.5
  tmux -S "$socket" kill-server 2>/dev/null
  sleep 0.2
done
check "the command ran after it was approved, not before" test "$approved" = 0

say
if ((failed)); then
  say "FAILED: $failed of $((passed + failed)) checks"
  exit 1
fi
say "PASSED: all $passed checks"
