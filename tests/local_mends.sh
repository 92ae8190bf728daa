#!/usr/bin/env bash
# Commands that fail for real (tests/failures.tsv), each in a shell in tmux: the person presses Ctrl+G on the empty line,
# and axi's own model mends it, offline. Prints what stands on the prompt line then: seen, proposed, right.
#
#   bash tests/local_mends.sh [-f] [-n NAME] [SHELL…]        SHELL: bash, zsh, fish; all of them without one
#
# With -f a server that knows nothing stands in place of the model, and what it was asked is printed, one file a shell,
# in $FACTS (a folder): whether each shell hands over the same. AXI=/path/to/axi is the build (target/release/axi);
# MODEL=local/… the model (the default one), whose weights must be on this machine: axi local pull; KEPT a folder in which
# what the model has read once stays for the next run. Nothing that is
# proposed is run. As root it all runs as nobody, for root may do what others may not. Takes some minutes a shell: this
# is no part of tests/run. A small model is not always right; that number is what is to be known.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
facts="" only=""
while getopts fn: option; do
  case $option in
    f) facts=1 ;;
    n) only=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
axi=$(realpath "${AXI:-target/release/axi}")
model=${MODEL:-local/qwen2.5-coder-1.5b}
[[ -x $axi ]] || { echo "$axi is missing: cargo build --release"; exit 1; }
for program in tmux git python3; do
  command -v "$program" >/dev/null || { echo "$program is missing"; exit 1; }
done

if [[ -z ${MENDS-} ]]; then
  work=$(mktemp -d "${TMPDIR:-/tmp}/axi-mends.XXXXXX")
  mkdir -p "$work/home/.cache" "$work/home/.config/fish" "$work/bin"
  # What the model has read once is kept there from run to run.
  if [[ ${KEPT-} ]]; then mkdir -p "$KEPT" && ln -s "$(realpath "$KEPT")" "$work/home/.cache/axi"; fi
  mkdir -p "$work/home/.cache/axi/models"
  cp "$axi" "$work/bin/axi"
  cp tests/failures.tsv "$work"
  if [[ -z $facts ]]; then
    weights=$("$axi" local path "${model#local/}") || exit 1
    [[ -e $work/home/.cache/axi/models/${weights##*/} ]] || ln "$weights" "$work/home/.cache/axi/models/" 2>/dev/null ||
      cp "$weights" "$work/home/.cache/axi/models/"
  fi
  as=()
  if ((EUID == 0)); then
    chown -R 65534:65534 "$work" ${KEPT:+"$KEPT"}
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  fi
  [[ $facts ]] && set -- -f "$@"
  [[ $only ]] && set -- -n "$only" "$@"
  cp "${BASH_SOURCE[0]##*/}" "$work/" 2>/dev/null || cp "tests/${BASH_SOURCE[0]##*/}" tests/own_tmux.sh "$work/"
  mkdir -p "$work/tests" && mv "$work"/*.sh "$work/tests/" && cp "$axi" "$work/tests/axi" && chmod -R a+rX "$work/tests"
  trap 'rm -rf "$work"' EXIT
  "${as[@]}" env MENDS="$work" AXI="$work/tests/axi" MODEL="$model" FACTS="${FACTS:-$PWD/target/facts}" \
    bash "$work/tests/${BASH_SOURCE[0]##*/}" "$@"
  code=$?
  if [[ $facts ]]; then
    mkdir -p "${FACTS:-$PWD/target/facts}" && cp "$work"/facts.* "${FACTS:-$PWD/target/facts}/"
  fi
  exit "$code"
fi

work=$MENDS
socket=$work/tmux
home=$work/home
# shellcheck disable=SC2329 # called by the trap
stop() {
  tmux -S "$socket" kill-server 2>/dev/null
  [[ ${server-} ]] && kill "$server" 2>/dev/null
}
trap stop EXIT
now() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

printf '[user]\nname = Ada Example\nemail = ada@example.org\n[advice]\ndetachedHead = false\n' >"$home/.gitconfig"
printf "PS1='@@$ '\nHISTFILE=~/.history\neval \"\$(axi init bash)\"\n" >"$home/.bashrc"
printf "PS1='@@$ '\nHISTFILE=~/.history SAVEHIST=99 HISTSIZE=99\nunsetopt prompt_sp\neval \"\$(axi init zsh)\"\n" >"$home/.zshrc"
printf 'function fish_prompt; echo -n "@@\$ "; end\nfunction fish_greeting; end\nset -g fish_autosuggestion_enabled 0\naxi init fish | source\n' \
  >"$home/.config/fish/config.fish"
mkdir -p "$home/.config/axi"
settings=$home/.config/axi/config.toml
printf '[handoff]\nmend_model = "%s"\n' "$model" >"$settings"
if [[ $facts ]]; then
  # It answers any question with the same command, and writes down what it was asked.
  cat >"$work/server.py" <<'PY'
import http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        self.answer("application/json", json.dumps({"object": "list", "data": [{"id": "any", "object": "model"}]}).encode())
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        last = asked["messages"][-1]["content"]
        text = last if isinstance(last, str) else "".join(part.get("text", "") for part in last)
        with open(sys.argv[1] + "/asked", "w") as file:
            file.write(text)
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "any"}
        said = dict(chunk, choices=[{"index": 0, "delta": {"role": "assistant", "content": "COMMAND: true mended\nWHY: it is"}, "finish_reason": None}])
        end = dict(chunk, choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])
        self.answer("text/event-stream", "".join(f"data: {json.dumps(each)}\n\n" for each in (said, end)).encode() + b"data: [DONE]\n\n")
    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PY
  python3 "$work/server.py" "$work" >"$work/port" &
  server=$!
  until [[ -s $work/port ]]; do sleep 0.05; done
  printf '[handoff]\nmend_model = "lab/any"\n[providers.lab]\nprotocol = "openai-chat"\nbase_url = "http://127.0.0.1:%s/v1"\n' \
    "$(<"$work/port")" >"$settings"
  model=lab/any
fi

screen() { tmux -S "$socket" capture-pane -p -J -t mends; }
# at_prompt: the prompt is the last row, and what stands on it is in $line
at_prompt() {
  line=$(screen | sed -e 's/[[:space:]]*$//' | awk 'NF { last = $0 } END { print last }')
  [[ $line == '@@$'* ]] || return 1
  line=${line#'@@$'}
  line=${line# }
}
# waits STEPS of 50 ms
waits() {
  local steps=$1 step
  shift
  for ((step = 0; step < steps; step++)); do
    "$@" && return 0
    sleep 0.05
  done
  return 1
}
is_empty() { at_prompt && [[ -z $line ]]; }
has_run() { is_empty && (($(screen | grep -c '^@@[$]') > 1)); }
is_answered() {
  local shown
  shown=$(screen)
  if grep -qE "no command mends it|no answer within|❯ n  No" <<<"$shown"; then
    line=""
    return 0
  fi
  at_prompt && [[ -n $line && $line != *"axi handoff"* ]]
}
# picture: all that a command can have changed here
picture() { (cd "$work/case" && find . -path ./.git -prune -o -printf '%p %m %s %T@ %l\n' | sort; git -C "$work/case" for-each-ref 2>/dev/null); }

one() { # SHELL NAME SETUP COMMAND RIGHT
  local shell=$1 name=$2 setup=$3 command=$4 right=$5 begun before after verdict took seen=unseen
  chmod -R u+rwX "$work/case" 2>/dev/null
  rm -rf "$work/case" && mkdir "$work/case"
  (cd "$work/case" && HOME=$home bash -c "$setup") >"$work/setup" 2>&1 || { echo "cannot be set up: $name"; cat "$work/setup"; return; }
  local args=()
  case $shell in bash) args=(--noprofile) ;; esac
  "${clean[@]}" tmux -S "$socket" new-session -d -s mends -x 230 -y 50 -c "$work/case" "$shell" "${args[@]}"
  waits 300 is_empty || { echo "no prompt: $name"; screen; }
  tmux -S "$socket" send-keys -t mends -l "$command"
  tmux -S "$socket" send-keys -t mends Enter
  waits 400 has_run || echo "did not end: $name"
  before=$(picture)
  rm -f "$work/asked"
  begun=$(now)
  tmux -S "$socket" send-keys -t mends C-g
  line=""
  waits 2400 is_answered
  took=$(($(now) - begun))
  shown=$(screen)
  after=$(picture)
  all=$((all + 1))
  if grep -q "with its output:" <<<"$shown"; then seen=seen; elif [[ $shown == *"exit 127"* ]]; then seen=missing; fi
  [[ $seen == unseen ]] || all_seen=$((all_seen + 1))
  [[ $before == "$after" ]] || { changed=$((changed + 1)); echo "SOMETHING RAN: $name"; diff <(echo "$before") <(echo "$after"); }
  if [[ $facts ]]; then
    { printf '== %s\n' "$name"; cat "$work/asked" 2>/dev/null; echo; } >>"$work/facts.$shell"
  fi
  if [[ -z $line ]]; then
    verdict=none
  else
    proposed=$((proposed + 1))
    verdict=WRONG
    if grep -qE -- "$right" <<<"$line"; then
      verdict=right right_ones=$((right_ones + 1))
    fi
  fi
  times+=("$took")
  printf '%-5s %-13s %-7s %5d ms  %s  →  %s\n' "$verdict" "$name" "$seen" "$took" "$command" "$line"
  tmux -S "$socket" kill-session -t mends 2>/dev/null
}

shells=("$@")
((${#shells[@]})) || shells=(bash zsh fish)
for shell in "${shells[@]}"; do
  command -v "$shell" >/dev/null || { echo "skipped: $shell is not here"; continue; }
  # The environment of all that runs in it. A server that has no session left would go.
  socket=$work/tmux-$shell
  clean=(env -i HOME="$home" PATH="$work/bin:/usr/local/bin:/usr/bin:/bin" TERM=xterm-256color LANG=C.UTF-8
    SHELL="/usr/bin/$shell" AXI_MODEL="$model")
  "${clean[@]}" tmux -S "$socket" -f /dev/null new-session -d -s holder cat
  all=0 all_seen=0 proposed=0 right_ones=0 changed=0 times=()
  while IFS=$'\t' read -r name needs setup command right; do
    [[ $name == \#* || -z $name ]] && continue
    [[ -z $only || $name == "$only" ]] || continue
    case $needs in
      -) ;;
      !*) PATH=/usr/local/bin:/usr/bin:/bin command -v "${needs#!}" >/dev/null && { echo "skipped: $name (${needs#!} is here)"; continue; } ;;
      *) PATH=/usr/local/bin:/usr/bin:/bin command -v "$needs" >/dev/null || { echo "skipped: $name ($needs is not here)"; continue; } ;;
    esac
    one "$shell" "$name" "$setup" "$command" "$right" </dev/null
  done <"$work/failures.tsv"
  median=$(printf '%s\n' "${times[@]}" | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }')
  echo "$shell: $all failures, $all_seen seen, $proposed proposed, $right_ones right first time, $changed ran something unasked; median $median ms, load $(cut -d' ' -f1 /proc/loadavg)"
  tmux -S "$socket" kill-server
done
