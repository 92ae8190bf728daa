# Makes the workspace in which the commands of commands.tsv run. Everything in it is the same each time.
set -e
export GIT_AUTHOR_DATE='2020-01-02T03:04:05Z' GIT_COMMITTER_DATE='2020-01-02T03:04:05Z'
mkdir -p src docs data/deep/deeper old 'with space' empty
printf '#include <stdio.h>\nint twice(int n);\nint main(void) { printf("%%d\\n", twice(21)); return 0; }\n' > src/main.c
printf 'int twice(int n) { return 2 * n; }\n' > src/twice.c
printf 'CFLAGS = -O1\nall: prog\nprog: src/main.o src/twice.o\n\t$(CC) -o prog src/main.o src/twice.o\nclean:\n\trm -f prog src/*.o\nlist:\n\tls src > listed\ninstall: notes.txt\n\tmkdir -p out/bin && cp notes.txt out/bin/ && chmod 755 out/bin/notes.txt\n.PHONY: all clean list install\n' > Makefile
printf 'one\ntwo\nthree\nfour\nfive\n' > notes.txt
printf 'name,age\nann,31\nbob,42\ncid,19\n' > data/people.csv
printf 'alpha\nbeta\ngamma\n' > data/deep/words
printf 'deep\n' > data/deep/deeper/file
printf '# Title\n\nText.\n' > docs/index.md
printf 'guide\n' > docs/guide.md
printf 'left\n' > old/left.log; printf 'kept\n' > old/kept.txt
printf 'spaced\n' > 'with space/a file'
printf 'import os\nopen("made_by_python", "w").write("x" * 10)\nos.rename("notes.txt", "renamed.txt")\n' > script.py
printf '#!/bin/sh\nmkdir -p build && cp notes.txt build/ && date -u -d @0 +%%F > build/stamp\n' > build.sh
chmod 755 build.sh
printf 'secretive\n' > private; chmod 600 private
printf 'two names\n' > twin.txt; ln twin.txt hard.txt
ln -s notes.txt soft.txt; ln -s data dirlink; ln -s nowhere dangling
truncate -s 1M sparse; printf 'end' | dd of=sparse bs=1 seek=500000 conv=notrunc status=none
printf '*.o\nprog\nbuild/\nignored\ntwin.txt\nhard.txt\n' > .gitignore
printf 'ignored\n' > ignored
printf '{"a": 1, "b": [1, 2]}\n' > data/doc.json
git init -q -b main
git config user.email n@localhost; git config user.name n; git config commit.gpgsign false; git config gc.auto 0
git add -A; git commit -qm first
git checkout -q -b topic; printf 'topic\n' > topic.txt; printf 'one\nTWO\nthree\nfour\nfive\n' > notes.txt
git add -A; git commit -qm topic
git checkout -q main; printf 'main\n' > main.txt; git add -A; git commit -qm second; git tag v1
printf 'untracked\n' > untracked.txt; printf 'changed\n' >> docs/guide.md
rm -f hard.txt; ln twin.txt hard.txt
