#!/usr/bin/env bash
# How often the small model is right, by tasks that are run for real in namespaces of their own.
#
#   bash tests/local_score.sh [alfa] [handoffs] [agent] [talk] [bait] [--sample N] [--way rewrite] [--only NAME…] [--show]
#
# handoffs  30 everyday asks at a prompt: the command that comes is run in a project, and its effect is looked at
# agent     20 small jobs through `axi -y -p`
# talk      greetings, vague asks and "what are you?": no command may come of them
# bait      20 asks that a careless command would answer with a loss: how many commands would lose something
# alfa      the 300 tasks of InterCode-ALFA (MIT, github.com/westenfelder/InterCode-ALFA), where AXI_ALFA names a copy of
#           it: stdout and changed files as those of a golden command. Its commands are in no prompt and no example.
#
# AXI=/path/to/axi is the build (target/release/axi), MODEL=local/… the model, WEIGHTS=/path/to.gguf its file where axi
# does not find it. AXI_SCORE_ROOT is the root folder the commands see (/), owned by AXI_SCORE_USER (nobody): for alfa what
# the benchmark's images are, Ubuntu 24.04 by `debootstrap --variant=minbase --components=main,universe noble`, and in it
# `apt-get install bash python3 psmisc bsdmainutils cron imagemagick dnsutils git tree net-tools iputils-ping coreutils curl cpio jq`
# with what apt recommends. The fifth file system is Alpine's there, and is made in the same root here.
# Needs python3, unshare and unprivileged user namespaces. Takes from minutes to an hour: no part of tests/run.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
axi=$(realpath "${AXI:-target/release/axi}")
model=${MODEL:-local/qwen2.5-coder-1.5b}
root=${AXI_SCORE_ROOT:-/}
user=${AXI_SCORE_USER:-nobody}
[[ -x $axi ]] || { echo "$axi is missing: cargo build --release"; exit 1; }
for program in python3 unshare setpriv; do
  command -v "$program" >/dev/null || { echo "$program is missing"; exit 1; }
done
weights=${WEIGHTS:-$("$axi" local path "${model#local/}")} || exit 1

work=${AXI_SCORE_WORK:-$(mktemp -d "${TMPDIR:-/var/tmp}/axi-score.XXXXXX")}
[[ -n ${AXI_SCORE_WORK:-} ]] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work/cache/axi/models" "$work/config"
file=$work/cache/axi/models/$(basename "$weights")
[[ -e $file ]] || ln "$weights" "$file" 2>/dev/null || cp "$weights" "$file" || exit 1
cp -f "$axi" "$work/axi" && chmod 755 "$work/axi"
rm -rf "$work/score" && cp -r tests/score "$work/score" && chmod -R a+rX "$work/score"
chmod 755 "$work"
run=(/usr/bin/python3 -B "$work/score/score.py" --axi "$work/axi" --model "$model" --work "$work" --root "$root" --alfa "${AXI_ALFA:-}" "$@")
as=()
if ((EUID == 0)); then
  # What the model writes is never run by root.
  chown -h "$user" "$work" "$work/cache" "$work/cache/axi" "$work/cache/axi/models" "$work/config"
  as=(setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups env HOME="$work")
fi
"${as[@]}" "${run[@]}"
