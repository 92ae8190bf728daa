"""InterCode-ALFA's 300 tasks, each run for real: axi's command and the two golden ones, in cells of their own.

A task is right when standard output and the changed files are those of a golden command, byte for byte, or when the
command is a golden one: what that prints of clocks and memory differs from run to run. That is a lower bound: the
benchmark itself takes output that is much alike (by embeddings) for the same. `lines` takes the same lines in any order
with any blanks, `alike` output whose words are alike (cosine above 0.75 of the first 1,000 characters).
"""

import collections
import hashlib
import json
import math
import os
import re

import cell

SIZES = (153, 49, 57, 23, 18)
STATE = r"""
cd / && git -c core.quotepath=off status --short -uall --no-renames | cut -c1-2,4- | head -200 | while IFS= read -r row; do
  name=${row:2}; name=${name#\"}; name=${name%\"}
  if [ -f "/$name" ]; then sum=$(md5sum <"/$name"); else sum=-; fi
  printf '%s %s %s\n' "${row:0:2}" "$name" "${sum%% *}"
done
find / -xdev -type d -empty -not -path '/proc*' -not -path '/dev*' -not -path '/sys*' -not -path '/.git/*' \
  -not -path '/usr/*' -not -path '/var/*' -not -path '/etc/*' -not -path '/run/*' -not -path '/root/*' 2>/dev/null | sort
"""


def read(folder):
    """Reads the tasks of a copy of the benchmark: (number, file system, question, golden commands)."""
    tasks = []
    for system, size in enumerate(SIZES, start=1):
        path = os.path.join(folder, f"src/icalfa/assets/datasets/nl2bash_fs_{system}.json")
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)
        assert len(rows) == size, path
        for row in rows:
            tasks.append((len(tasks), system, row["query"], [row["gold"], row["gold2"]]))
    return tasks


def prepare(folder, root, work):
    """Makes the five file systems as layers over the root; returns what goes to `lower` of a cell, by number."""
    lowers = {}
    assets = os.path.join(folder, "src/icalfa/assets/docker")
    for system in range(1, len(SIZES) + 1):
        kept = os.path.join(work, f"system{system}")
        lowers[system] = f"{kept}/upper:{root}"
        if os.path.exists(f"{kept}/whole"):
            continue
        cell.drop(kept)
        os.makedirs(kept)
        for name in ("upper", "work", "root"):
            os.mkdir(os.path.join(kept, name))
        with open(f"{assets}/setup_nl2b_fs_{system}.sh", encoding="utf-8") as file:
            setup = file.read()
        with open(f"{assets}/docker.gitignore", encoding="utf-8") as file:
            ignored = file.read()
        script = (
            "cd /; cat >/.gitignore <<'IGNORED'\n" + ignored + "\nIGNORED\n"
            f"setup=/setup_nl2b_fs_{system}.sh; cat >$setup; chmod +x $setup; $setup >/dev/null 2>&1\n"
            "git config --global user.email a@example.org; git config --global user.name a\n"
            "git config --global --add safe.directory /\n"
            "git init -q . && git add -A && git commit -qm initial && git status --short | head"
        )
        code, out, err = cell.run(kept, root, ["bash", "-c", script], stdin=setup.encode(), seconds=300)
        if code != 0:
            raise SystemExit(f"file system {system}: {code} {out[-300:]} {err[-600:]}")
        with open(f"{kept}/whole", "w", encoding="utf-8"):
            pass
    return lowers


def ran(work, lower, system, command, seconds=10):
    """Runs a command in a new cell: standard output, and the files that it changed."""
    place = cell.make(work)
    variables = {"FILES": "/testbed/hello.c"} if system == 1 else {}
    script = 'cd /; ' + ('export FILES="/testbed/hello.c /testbed/FooBar.html"; ' if system == 1 else "")
    script += 'timeout -k 1 "$1" bash -c "$2" </dev/null 2>/dev/null | head -c 400000; bash -c "$3" >/state 2>/dev/null'
    code, out, _ = cell.run(place, lower, ["bash", "-c", script, "run", str(seconds), command, STATE], variables=variables,
                            seconds=seconds + 30)
    try:
        with open(os.path.join(place, "upper/state"), "rb") as file:
            state = file.read()
    except OSError:
        state = b"?"
    # The file that holds the state is none that the command changed.
    state = b"\n".join(row for row in state.split(b"\n") if row.split(b" ")[1:2] != [b"state"])
    cell.drop(place)
    return (None if code is None else out, hashlib.md5(state).hexdigest(), state)


def lines(text):
    return sorted(" ".join(row.split()) for row in text.decode("utf-8", "replace").splitlines() if row.strip())


def alike(left, right):
    words = [collections.Counter(re.findall(r"\w+|[^\w\s]", text.decode("utf-8", "replace")[:1000])) for text in (left, right)]
    if not words[0] or not words[1]:
        return 1.0 if left.strip() == right.strip() else 0.0
    dot = sum(count * words[1][word] for word, count in words[0].items())
    return dot / math.sqrt(sum(c * c for c in words[0].values()) * sum(c * c for c in words[1].values()))


def judge(answer, golden):
    """Compares one run with the golden ones: the strictest word that holds."""
    best = "wrong"
    order = ("wrong", "alike", "lines", "same")
    for gold in golden:
        if answer[0] is None or gold[0] is None or answer[1] != gold[1]:
            continue
        if answer[0] == gold[0]:
            word = "same"
        elif lines(answer[0]) == lines(gold[0]):
            word = "lines"
        elif alike(answer[0], gold[0]) > 0.75:
            word = "alike"
        else:
            continue
        best = max(best, word, key=order.index)
    return best
