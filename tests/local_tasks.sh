#!/usr/bin/env bash
# Twenty small tasks, asked as people ask them, through axi's own model, offline, with approvals answered yes.
#
#   bash tests/local_tasks.sh [NAME…]
#
# Prints a line a task, what was answered where it was wrong, and how many of them were right. AXI=/path/to/axi is the
# build (target/release/axi), MODEL=local/… the model (the default one). The weights must be on this machine:
# axi local pull. Takes some minutes: this is no part of tests/run. A small model is not always right; that number is
# what is to be known.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
axi=$(realpath "${AXI:-target/release/axi}")
model=${MODEL:-local/qwen2.5-coder-1.5b}
[[ -x $axi ]] || { echo "$axi is missing: cargo build --release"; exit 1; }
command -v git >/dev/null || { echo "git is missing"; exit 1; }

work=$(mktemp -d "${TMPDIR:-/tmp}/axi-tasks.XXXXXX")
trap 'rm -rf "$work"' EXIT
wanted=" $* " right=0 all=0

place() { # a small project, the same for every task
  rm -rf "$work/project"
  mkdir -p "$work/project/src" "$work/project/logs" && cd "$work/project" || exit 1
  for number in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "note $number"; done >notes.txt
  printf 'def greet(name):\n    print("helo " + name)\n' >src/greet.py
  printf 'import os\n\n# TODO: handle missing files\ndef size(path):\n    return os.path.getsize(path)\n' >src/files.py
  printf 'print("main")\n' >src/main.py
  printf '{\n  "host": "localhost",\n  "port": 8042\n}\n' >src/config.json
  for line in ok ERROR ok ERROR ERROR ok ERROR ok ERROR; do echo "2024-05-01 $line disk"; done >logs/app.log
  head -c 2000000 /dev/zero >video.bin
  echo old >old.log
  printf '#!/bin/sh\necho run\n' >run.sh
  git init -q -b feature-login .
  git -c user.name="Ada Example" -c user.email=ada@example.org add -A
  git -c user.name="Ada Example" -c user.email=ada@example.org commit -qm "Add the login form"
}

task() { # NAME QUESTION CHECK: the check is a shell command; $answer is what was answered
  local name=$1 question=$2 check=$3 begun=$SECONDS
  [[ $wanted == "  " || $wanted == *" $name "* ]] || return 0
  all=$((all + 1))
  place
  answer=$(timeout 300 "$axi" -m "$model" -y --no-session -p "$question" </dev/null 2>"$work/errors")
  if eval "$check" >/dev/null 2>&1; then
    right=$((right + 1))
    printf 'right %-9s %3d s\n' "$name" $((SECONDS - begun))
  else
    printf 'WRONG %-9s %3d s  %s\n' "$name" $((SECONDS - begun)) "$question"
    printf '%s\n' "$answer" | tail -6 | cut -c1-160 | sed 's/^/    | /'
    tail -6 "$work/errors" | cut -c1-160 | sed 's/^/    ! /'
  fi
  cd "$work" || exit 1
}

says() { grep -qiE -- "$1" <<<"$answer"; }

task usage "which command shows how much disk space the current folder uses?" 'says "\bdu\b"'
task extract "how do I unpack archive.tar.gz?" 'says "tar +-?[a-z]*x"'
task python "how many python files are there in this project?" 'says "\b(3|three)\b"'
task large "find the files larger than 1 MB in this folder" 'says "video\.bin"'
task lines "how many lines does notes.txt have?" 'says "\b(12|twelve)\b"'
task todo "which file has a TODO in it?" 'says "files\.py"'
task rename "rename notes.txt to ideas.txt" '[[ -f ideas.txt && ! -f notes.txt ]]'
task folder "make a folder called build" '[[ -d build ]]'
task create "create hello.txt with the text hello world in it" 'grep -qi "hello world" hello.txt'
task delete "delete old.log" '[[ ! -e old.log && -e notes.txt ]]'
task denied "I ran ./run.sh and got: Permission denied. Why?" 'says "chmod|execut"'
task missing "what does this mean? bash: node: command not found" 'says "not installed|install|PATH"'
task branch "which git branch am I on?" 'says "feature-login"'
task author "who made the last commit?" 'says "Ada"'
task undo "how do I undo my last git commit but keep the changes?" 'says "git reset (--soft|--mixed)? ?HEAD"'
task typo "src/greet.py prints helo instead of hello, fix it" 'grep -q "\"hello \"" src/greet.py && ! grep -q helo src/greet.py'
task port "which port is set in src/config.json?" 'says "8042"'
task errors "how many ERROR lines are in logs/app.log?" 'says "\b(5|five)\b"'
task listening "which command shows what listens on port 8080?" 'says "\b(lsof|ss|netstat|fuser)\b"'
task tail "show me the last 3 lines of notes.txt" 'says "note 10" && says "note 11" && says "note 12"'

echo "$right of $all right ($model, $SECONDS s)"
