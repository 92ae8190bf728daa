#!/usr/bin/env bash
# The model inside of axi beside llama-server: the same weights, the same machine, one after the other in one run.
#
#   SERVER=/path/to/llama-server bash tests/local_bench.sh [ROUNDS]
#
# Prints tokens a second for reading and for writing, and the most memory each had (of it: pages of the weights, which
# the system may take back). AXI=/path/to/axi is the build (target/release/axi). The weights must be on this machine:
# axi local pull. Without SERVER only axi is measured. Needs python3 and curl; no part of tests/run.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
axi=$(realpath "${AXI:-target/release/axi}")
model=qwen2.5-coder-1.5b rounds=${1:-3} port=${PORT:-18473}
[[ -x $axi ]] || { echo "$axi is missing: cargo build --release"; exit 1; }
weights=$("$axi" local path "$model") || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/axi-bench.XXXXXX")
server=
stop() {
  [[ -n $server ]] && kill "$server" 2>/dev/null
  rm -rf "$work"
}
trap stop EXIT

text=$(head -c 2400 README.md)
question="Say in about a hundred words what this is."

now() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
# memory PID: the most it had, and the most pages of files among it now, in MB
memory() { awk '/^VmHWM/ { most = $2 } /^RssFile/ { file = $2 } END { printf "%d MB at most, %d MB of it the file", most / 1024, file / 1024 }' "/proc/$1/status"; }
rate() { awk -v count="$1" -v ms="$2" 'BEGIN { printf "%.1f", count * 1000 / (ms > 0 ? ms : 1) }'; }

# once: one answer of axi; what is read of the prompt and what is written, by the time at which it is told
once() {
  local line begun="" ended="" first="" last="" from=0 all=0 written=0 seen=""
  mkfifo "$work/events"
  printf '%s\n' "$text" |
    "$axi" -m "local/$model" -p --no-session --output stream-json "$question" >"$work/events" 2>/dev/null &
  local pid=$!
  while IFS= read -r line; do
    case $line in
      *'"kind":"reading"'*)
        all=${line##*\"all\":} all=${all%%\}*}
        [[ -z $begun ]] && { begun=$(now) from=${line##*\"read\":} from=${from%%,*}; }
        ended=$(now) ;;
      *'"text_delta"'*)
        [[ -z $first ]] && first=$(now)
        last=$(now) seen=$(memory "$pid") ;;
      *'"type":"usage"'*) written=${line##*\"output_tokens\":} written=${written%%,*} ;;
    esac
  done <"$work/events"
  wait "$pid"
  rm "$work/events"
  echo "axi: read $((all - from)) tokens at $(rate $((all - from)) $((ended - begun)))/s, wrote $written at $(rate $((written - 1)) $((last - first)))/s, $seen"
}

once >/dev/null # what every prompt begins with is kept by then, and the file is in memory
for ((round = 0; round < rounds; round++)); do once; done

[[ -n ${SERVER:-} ]] || exit 0
"$SERVER" -m "$weights" -c 8192 --host 127.0.0.1 --port "$port" >"$work/server.log" 2>&1 &
server=$!
for ((step = 0; step < 600; step++)); do
  curl -sf "http://127.0.0.1:$port/health" >/dev/null && break
  kill -0 "$server" 2>/dev/null || { tail -5 "$work/server.log"; exit 1; }
  sleep 0.1
done
python3 - "$text" "$question" >"$work/ask.json" <<'P'
import json, sys
text, question = sys.argv[1:]
prompt = f"<|im_start|>user\n{question}\n\n{text}<|im_end|>\n<|im_start|>assistant\n"
print(json.dumps({"prompt": prompt, "n_predict": 150, "temperature": 0, "cache_prompt": False}))
P
for ((round = 0; round <= rounds; round++)); do
  curl -sf -d @"$work/ask.json" "http://127.0.0.1:$port/completion" >"$work/answer.json" || exit 1
  ((round == 0)) && continue
  python3 - "$work/answer.json" "$(memory "$server")" <<'P'
import json, sys
timings = json.load(open(sys.argv[1]))["timings"]
print("llama-server: read {prompt_n} tokens at {prompt_per_second:.1f}/s, wrote {predicted_n} at "
      "{predicted_per_second:.1f}/s, ".format(**timings) + sys.argv[2])
P
done
