#!/usr/bin/env bash
# Ten small jobs end to end on a real model: each in a fresh git repository, approvals answered with -y, and a command
# at the end that tells right from wrong. Prints a line a job and how many of ten were right.
#
#   bash tests/real_tasks.sh [JOB…]           the model that axi finds by itself: a local one, or the one inside of axi
#   MODEL=openai/any OPENAI_BASE_URL=… OPENAI_API_KEY=x bash tests/real_tasks.sh
#
# AXI=/path/to/axi takes another build; else the release build, or the debug build where there is none. SECONDS_EACH
# limits a job (600). KEEP=1 keeps the repositories and what axi printed. No part of tests/run: a small model is not
# always right, and slow.
# The checks are run later, in the repository.
# shellcheck disable=SC2016
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
axi=${AXI:-$PWD/target/release/axi}
[[ -x $axi ]] || axi=$PWD/target/debug/axi
[[ -x $axi ]] || { echo "there is no axi to run: cargo build --release"; exit 1; }
limit=${SECONDS_EACH:-600}
work=$(mktemp -d "${TMPDIR:-/tmp}/axi-tasks.XXXXXX")
[[ -n ${KEEP:-} ]] || trap 'rm -rf "$work"' EXIT
flags=(-y --allow shell --no-session)
[[ -z ${MODEL:-} ]] || flags+=(-m "$MODEL")
only=" $* "
right=0 tried=0

# What axi keeps goes to the scratch directory; weights and models are those of the person.
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
export GIT_CONFIG_GLOBAL=$work/gitconfig GIT_CONFIG_NOSYSTEM=1
mkdir -p "$work/state" "$work/config"
git config --file "$work/gitconfig" user.name Ada
git config --file "$work/gitconfig" user.email ada@example.com
git config --file "$work/gitconfig" init.defaultBranch main

task() { # NAME QUESTION CHECK: files come from setup_NAME; CHECK runs in the repository, $answer is the answer's file
  local name=$1 question=$2 checks=$3 began=$SECONDS code=0 word=wrong
  [[ $only == "  " || $only == *" $name "* ]] || return 0
  tried=$((tried + 1))
  mkdir -p "$work/$name"
  (cd "$work/$name" && git init -q && "setup_$name" && git add -A && git commit -q -m start)
  answer=$work/$name.answer
  (cd "$work/$name" && timeout -k 5 "$limit" "$axi" "${flags[@]}" -p "$question" >"$answer" 2>"$work/$name.log" </dev/null) || code=$?
  if (cd "$work/$name" && eval "$checks") >"$work/$name.check" 2>&1; then
    word=right
    right=$((right + 1))
  fi
  printf '%-5s  %-8s %4d s  exit %d  %s\n' "$word" "$name" $((SECONDS - began)) "$code" "$(tr '\n' ' ' <"$answer" | cut -c1-90)"
}

setup_change() {
  printf 'def add(a, b):\n    return a + b\n' >calc.py
  printf '#!/bin/sh\npython3 -c "import calc; assert calc.sub(5, 3) == 2; print(\\"passed\\")"\n' >test.sh
}
setup_find() {
  mkdir -p src/deep docs
  echo 'nothing here' >src/one.txt; echo 'the zebra_token lives here' >src/deep/two.txt; echo 'nor here' >docs/three.txt
}
setup_fix() { printf '#!/bin/sh\nif [ -n "$HOME" ]; then\n  echo hello\n' >greet.sh; }
setup_rename() { echo 'some text' >old_name.txt; }
setup_count() { seq 37 >data.txt; }
setup_replace() { printf '[server]\nhost = localhost\nport = 8080\nname = main\n' >config.ini; }
setup_create() { echo '# empty' >README.md; }
setup_files() {
  mkdir src
  touch src/a.py src/b.py src/c.py src/notes.md src/d.txt
  for file in src/*; do echo x >"$file"; done
}
setup_commit() { printf "Hello world\n" >text.txt; }
setup_run() { printf '#!/bin/sh\necho "the number is $((1200 + 34))"\n' >say.sh; }

task change 'Add a function sub(a, b) to calc.py that returns a minus b. Then run: sh test.sh' \
  'sh test.sh && python3 -c "import calc; assert calc.add(1, 2) == 3"'
task find 'Which file contains the text zebra_token? Answer with its path.' 'grep -q "src/deep/two.txt" "$answer"'
task fix 'Running "sh greet.sh" fails. Fix greet.sh so that it prints hello.' '[ "$(sh greet.sh)" = hello ]'
task rename 'Rename old_name.txt to new_name.txt' '[ ! -e old_name.txt ] && [ "$(cat new_name.txt)" = "some text" ]'
task count 'How many lines does data.txt have?' 'grep -qw 37 "$answer"'
task replace 'In config.ini change the port from 8080 to 9090.' \
  '[ "$(cat config.ini)" = "$(printf "[server]\nhost = localhost\nport = 9090\nname = main\n")" ]'
task create 'Create a file hello.txt that contains the line: Hello, axi' '[ "$(cat hello.txt)" = "Hello, axi" ]'
task files 'How many files in the directory src end in .py?' 'grep -qwiE "3|three" "$answer"'
task commit 'Write the word done into the file state.txt and commit that file with git, with the message: Say done' \
  '[ "$(git log -1 --format=%s)" = "Say done" ] && [ "$(git show HEAD:state.txt)" = done ]'
task run 'Run "sh say.sh" and tell me which number it prints.' 'grep -qE "1,?234" "$answer"'

printf '%d of %d right, in %d s\n' "$right" "$tried" "$SECONDS"
[[ -z ${KEEP:-} ]] || echo "kept: $work"
