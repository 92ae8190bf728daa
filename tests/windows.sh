#!/usr/bin/env bash
# axi for Windows, built here by mingw and run by wine: what it says of itself, its settings and the machine, a turn with
# tools against a provider of this script's, a session that is opened again, a command that is stopped.
#
#   bash tests/windows.sh [PROGRAM]       default: built here
#
# Needs the standard library (rustup target add x86_64-pc-windows-gnu), x86_64-w64-mingw32-gcc, wine64 and python3. No
# part of tests/run. Wine is no Windows: what holds here need not hold there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for program in x86_64-w64-mingw32-gcc wine python3; do
  command -v "$program" >/dev/null || { echo "$program is missing (Debian: gcc-mingw-w64-x86-64, wine64, python3)"; exit 1; }
done
target=x86_64-pc-windows-gnu
axi=${1:-}
if [[ -z $axi ]]; then
  cargo build --locked --target "$target" --bin axi
  axi=${CARGO_TARGET_DIR:-target}/$target/debug/axi.exe
fi
axi=$(realpath "$axi")
place=$(mktemp -d)
work=$place/work
mkdir "$work"
export WINEPREFIX=$place/wine WINEDEBUG=-all
server=
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  wineserver -k 2>/dev/null || true
  rm -rf "$place"
}
trap cleanup EXIT
wine wineboot -i >/dev/null 2>&1 || true
system=$WINEPREFIX/drive_c/windows/system32
if [[ ! -e $system/bcryptprimitives.dll ]]; then
  # Every Windows since 7 has it, and the standard library takes its random numbers from there; wine has it since 9.
  cat >"$place/random.c" <<'C'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *bytes, SIZE_T count) { return RtlGenRandom(bytes, count); }
C
  x86_64-w64-mingw32-gcc -shared -o "$system/bcryptprimitives.dll" "$place/random.c" -ladvapi32
fi

# A provider of OpenAI's kind that answers with the steps of a file, one a request, and keeps the requests.
cat >"$place/server.py" <<'PY'
import http.server, json, sys
script, kept, port = sys.argv[1:4]
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.answer("application/json", b'{"data":[{"id":"any"}]}')
    def do_POST(self):
        request = self.rfile.read(int(self.headers["content-length"]))
        with open(kept, "ab") as file: file.write(request + b"\n")
        with open(script) as file: steps = json.load(file)
        step = steps.pop(0) if steps else {"text": "nothing more"}
        with open(script, "w") as file: json.dump(steps, file)
        if "text" in step:
            delta, reason = {"content": step["text"]}, "stop"
        else:
            function = {"name": step["call"][0], "arguments": json.dumps(step["call"][1])}
            delta, reason = {"tool_calls": [{"index": 0, "id": "c%d" % len(steps), "type": "function", "function": function}]}, "tool_calls"
        lines = [{"choices": [{"index": 0, "delta": delta}]}, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}]
        self.answer("text/event-stream", b"".join(b"data: " + json.dumps(line).encode() + b"\n\n" for line in lines) + b"data: [DONE]\n\n")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(port, "w") as file: file.write(str(server.server_port))
server.serve_forever()
PY
python3 "$place/server.py" "$place/script" "$place/kept" "$place/port" &
server=$!
for _ in $(seq 100); do
  [[ -s $place/port ]] && break
  sleep 0.1
done
OPENAI_BASE_URL=http://127.0.0.1:$(<"$place/port")/v1
export OPENAI_BASE_URL OPENAI_API_KEY=x
unset HOME XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME

failed=0
# run NAME CODE TEXT ARGUMENTS…: axi ends with this code, and says this.
run() {
  local name=$1 code=$2 text=$3 said got=0
  shift 3
  said=$(cd "$work" && timeout 120 wine "$axi" "$@" 2>&1 </dev/null) || got=$?
  if [[ $got == "$code" && $said == *"$text"* ]]; then
    echo "ok    $name"
  else
    echo "FAIL  $name: ended with $got, said:"
    printf '%s\n' "$said" | sed 's/^/        /'
    failed=1
  fi
}
# holds NAME COMMAND…: this is so.
holds() {
  local name=$1
  shift
  if "$@"; then echo "ok    $name"; else echo "FAIL  $name"; failed=1; fi
}
script() { printf '%s' "$1" >"$place/script"; : >"$place/kept"; }
ask=(-m openai/any -p)

run "says its version" 0 "axi $(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)" --version
run "says its help" 0 "--model" --help
run "checks its settings" 0 "" config check
run "examines the machine" 0 "" doctor
script '[{"text":"good morning"}]'
run "answers" 0 "good morning" "${ask[@]}" "hello"
holds "keeps what it does below AppData" compgen -G "$WINEPREFIX/drive_c/users/*/AppData/Local/axi/sessions/*" >/dev/null
script '[{"text":"again"}]'
run "opens the last session again" 0 "again" -c "${ask[@]}" "and now?"
holds "which has what was said" grep -q "good morning" "$place/kept"
printf 'one\ntwo\n' >"$work/a.txt"
script '[{"call":["read",{"path":"a.txt"}]},{"text":"read"}]'
run "reads a file" 0 "read" "${ask[@]}" "read it"
holds "and sends it" grep -q 'two' "$place/kept"
script '[{"call":["read",{"path":"a.txt"}]},{"call":["edit",{"path":"a.txt","old_string":"two","new_string":"three"}]},{"text":"edited"}]'
run "does not edit unasked" 5 "denied" "${ask[@]}" "edit it"
holds "so that the file stays" grep -q two "$work/a.txt"
script '[{"call":["read",{"path":"a.txt"}]},{"call":["edit",{"path":"a.txt","old_string":"two","new_string":"three"}]},{"text":"edited"}]'
run "edits after a yes" 0 "edited" -y "${ask[@]}" "edit it"
holds "the file" grep -q three "$work/a.txt"
printf 'TOKEN=abc123def456\n' >"$work/.env"
script '[{"call":["read",{"path":".env"}]},{"text":"read"}]'
run "reads no secrets unasked" 5 "denied" "${ask[@]}" "read it"
holds "none" bash -c "! grep -q abc123def456 '$place/kept'"
script '[{"call":["write",{"path":"new/b.txt","content":"new"}]},{"text":"written"}]'
run "writes a file" 0 "written" -y "${ask[@]}" "write it"
holds "in a new folder" grep -q new "$work/new/b.txt"
script '[{"call":["shell",{"command":"echo hello"}]},{"text":"tried"}]'
run "has no shell without Git" 0 "tried" -y "${ask[@]}" "run it"
holds "and says what is missing" grep -q "Git for Windows" "$place/kept"

# What stands in for the bash of Git: it starts a program that would write a file after five seconds, says so, and ends.
cat >"$place/bash.c" <<'C'
#include <stdio.h>
#include <string.h>
#include <windows.h>
int main(int count, char **words) {
  const char *line = count > 2 ? words[2] : "";
  char own[MAX_PATH];
  GetModuleFileNameA(0, own, sizeof own);
  if (strstr(line, "later")) {
    Sleep(5000);
    fclose(fopen("later.txt", "w"));
    return 0;
  }
  if (strstr(line, "leave") || strstr(line, "hang")) {
    char command[2 * MAX_PATH];
    STARTUPINFOA start = {sizeof start};
    PROCESS_INFORMATION started;
    snprintf(command, sizeof command, "\"%s\" -c later", own);
    CreateProcessA(0, command, 0, 0, 0, 0, 0, 0, &start, &started);
  }
  printf("ran %s\n", line);
  fflush(stdout);
  if (strstr(line, "hang")) {
    fclose(fopen("begun.txt", "w"));
    Sleep(60000);
  }
  return strstr(line, "fail") ? 3 : 0;
}
C
git="$WINEPREFIX/drive_c/Program Files/Git/bin"
mkdir -p "$git"
x86_64-w64-mingw32-gcc -o "$git/bash.exe" "$place/bash.c"
script '[{"call":["shell",{"command":"rm x"}]},{"text":"not run"}]'
run "runs nothing unasked" 5 "denied" "${ask[@]}" "run it"
holds "nothing" bash -c "! grep -q 'ran rm' '$place/kept'"
script '[{"call":["shell",{"command":"cat a.txt"}]},{"text":"not run"}]'
run "not even what only reads" 5 "denied" "${ask[@]}" "run it"
holds "nothing" bash -c "! grep -q 'ran cat' '$place/kept'"
(cd "$work" && wine "$git/bash.exe" -c leave >/dev/null 2>&1)
sleep 7
holds "what a command leaves goes on by itself" test -e "$work/later.txt"
rm -f "$work/later.txt"
script '[{"call":["shell",{"command":"ls fail"}]},{"text":"seen"}]'
run "runs a line with the bash of Git" 0 "seen" -y "${ask[@]}" "run it"
holds "and tells what it printed" grep -q "ran ls fail" "$place/kept"
script '[{"call":["shell",{"command":"echo leave"}]},{"text":"left"}]'
run "ends what a command leaves" 0 "left" -y "${ask[@]}" "run it"
sleep 6
holds "all of it" test ! -e "$work/later.txt"
script '[{"call":["shell",{"command":"echo hang","timeout":2}]},{"text":"timed"}]'
run "ends a command whose time is over" 0 "timed" -y "${ask[@]}" "run it"
sleep 6
holds "with what it started" test ! -e "$work/later.txt"
rm -f "$work/begun.txt"
script '[{"call":["shell",{"command":"echo hang"}]},{"text":"never"}]'
(cd "$work" && timeout -s KILL 4 wine "$axi" -y "${ask[@]}" "run it" </dev/null >/dev/null 2>&1) || true
holds "a command had begun when axi was killed" test -e "$work/begun.txt"
sleep 7
holds "and ended with it, with what it started" test ! -e "$work/later.txt"
exit "$failed"
