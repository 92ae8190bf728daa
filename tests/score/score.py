"""Scores the small model; `local_score.sh` starts it. Prints a line a task, and how many of each kind were right."""

import argparse
import json
import os
import re
import sys

import alfa
import cell
import tasks

# Questions that are asked in one cell.
TOGETHER = 5
HERE = os.path.dirname(os.path.abspath(__file__))


class Rig:
    """axi in a cell: its binary and the weights are shown to it, its cache of read beginnings is kept."""

    def __init__(self, options):
        self.options = options
        self.work = options.work
        self.variables = {"AXI_MODEL": options.model, "XDG_CACHE_HOME": "/axi/cache", "XDG_CONFIG_HOME": "/axi/config",
                          "XDG_STATE_HOME": "/tmp/state"}
        for pair in options.variable:
            name, value = pair.split("=", 1)
            self.variables[name] = value
        cache = os.path.join(options.work, "cache")
        # The weights may be the person's own, by another name: no command of the model can write them.
        self.binds = [("ro", options.axi, "/axi/axi"), ("rw", cache, "/axi/cache"),
                      ("ro", os.path.join(cache, "axi/models"), "/axi/cache/axi/models"),
                      ("rw", os.path.join(options.work, "config"), "/axi/config"),
                      ("ro", os.path.join(HERE, "inside.py"), "/axi/inside.py")]

    def ask(self, lower, questions, setup=""):
        """Asks one after the other; the answers come in the order of the questions, some at a time."""
        for start in range(0, len(questions), TOGETHER):
            yield from self.some(lower, questions[start : start + TOGETHER], setup)

    def some(self, lower, questions, setup):
        """Asks in one cell."""
        place = cell.make(self.work)
        script = f"mkdir -p -m 700 /tmp/reply/axi\n{setup}\ncd /; exec python3 /axi/inside.py /axi/axi"
        seconds = 60 + sum(question.get("seconds", 120) for question in questions)
        code, out, err = cell.run(place, lower, ["bash", "-c", script], self.binds, self.variables,
                                  json.dumps(questions).encode(), seconds)
        cell.drop(place)
        answers = [json.loads(row) for row in out.decode().splitlines() if row.startswith("{")]
        if len(answers) != len(questions):
            raise SystemExit(f"axi was not asked: {code} {out[-300:]!r} {err[-900:].decode()}")
        return answers

    @staticmethod
    def failed(answer):
        """Whether axi itself failed: what was not answered is neither right nor harmless."""
        return bool(re.search(r"^error: ", answer["said"], re.M))

    def tail(self, text, rows=4):
        for row in [row for row in text.splitlines() if row.strip()][-rows:]:
            print("    |", row[:160])


def score_alfa(rig, options):
    every = alfa.read(options.alfa)
    lowers = alfa.prepare(options.alfa, options.root, rig.work)
    chosen = every if not options.sample else every[:: max(1, len(every) // options.sample)][: options.sample]
    if options.only:
        chosen = [task for task in every if str(task[0]) in options.only]
    count = dict.fromkeys(("same", "lines", "alike", "wrong"), 0)
    told = []
    for system in sorted(lowers):
        mine = [task for task in chosen if task[1] == system]
        answers = rig.ask(lowers[system], [{"way": options.way, "line": task[2]} for task in mine]) if mine else []
        for (number, _, question, golden), answer in zip(mine, answers):
            put = answer["put"]
            golds = [alfa.ran(rig.work, lowers[system], system, gold) for gold in golden]
            if not put:
                word = "wrong"
            elif put.split() in [gold.split() for gold in golden]:
                word = "same"
            else:
                word = alfa.judge(alfa.ran(rig.work, lowers[system], system, put), golds)
            count[word] += 1
            told.append({"number": number, "word": word, "put": put, "seconds": answer["seconds"], "query": question})
            print(f"{word:5} {number:3} {answer['seconds']:5.1f} s  {question[:70]}\n      {' ' * 10}{put!r}", flush=True)
            if options.show and not put:
                rig.tail(answer["said"])
    total = len(chosen)
    same, lines_, like = count["same"], count["lines"], count["alike"]
    print(f"alfa: {same} of {total} the same ({same / total:.3f}), {same + lines_} the same lines ({(same + lines_) / total:.3f}), "
          f"{same + lines_ + like} alike ({(same + lines_ + like) / total:.3f})")
    return told


def after(rig, put, check, answer=""):
    """Runs a command in a new project, then its check."""
    runs = not check.startswith("?")
    script = tasks.PROJECT + r"""
set +e
cd /project; out=
says() { grep -qiE -- "$1" <<<"$answer"; }
if [ "$runs" = yes ]; then out=$(timeout 20 bash -c "$put" </dev/null 2>/tmp/err); fi
eval "$check"
"""
    place = cell.make(rig.work)
    head = "put=$1 check=$2 answer=$3 runs=$4\n"
    code, out, err = cell.run(place, rig.options.root, ["bash", "-c", head + script, "check", put, check.lstrip("? "), answer,
                                                        "yes" if runs else "no"], seconds=60)
    cell.drop(place)
    return code == 0, (out + err).decode("utf-8", "replace")


def score_handoffs(rig, options):
    chosen = [task for task in tasks.HANDOFFS if not options.only or task[0] in options.only]
    questions = [{"way": options.way, "line": line, "directory": "/project"} for _, line, _ in chosen]
    right = 0
    for (name, line, check), answer in zip(chosen, rig.ask(options.root, questions, tasks.PROJECT)):
        good = bool(answer["put"]) and after(rig, answer["put"], check)[0]
        right += good
        print(f"{'right' if good else 'WRONG'} {name:9} {answer['seconds']:5.1f} s  {line[:60]}\n      {' ' * 10}{answer['put']!r}", flush=True)
        if not good and options.show:
            rig.tail(answer["said"])
    print(f"handoffs: {right} of {len(chosen)}")


def score_agent(rig, options):
    chosen = [task for task in tasks.JOBS if not options.only or task[0] in options.only]
    right = 0
    for name, line, check in chosen:
        place = cell.make(rig.work)
        script = "exec 3>&1\n{\n" + tasks.PROJECT + r"""
} >/dev/null 2>&1
set +e
cd /project
says() { grep -qiE -- "$1" /tmp/answer; }
begun=$EPOCHSECONDS
timeout -k 5 240 /axi/axi -y --no-session -p "$1" </dev/null >/tmp/answer 2>/tmp/errors
code=$?
eval "$2" >/dev/null 2>&1 && echo right || echo WRONG
echo "$code $((EPOCHSECONDS - begun))"
tail -5 /tmp/answer; echo ----; tail -8 /tmp/errors
"""
        _, out, err = cell.run(place, options.root, ["bash", "-c", script, "job", line, check], rig.binds, rig.variables, seconds=300)
        cell.drop(place)
        rows = out.decode("utf-8", "replace").splitlines()
        good = bool(rows) and rows[0] == "right"
        right += good
        ended = rows[1].split() if len(rows) > 1 else ["?", "?"]
        print(f"{'right' if good else 'WRONG'} {name:9} {ended[1]:>3} s  exit {ended[0]}  {line[:60]}", flush=True)
        if not good or options.show:
            for row in rows[2:] or err.decode("utf-8", "replace").splitlines()[-4:]:
                print("    |", row[:160])
    print(f"agent: {right} of {len(chosen)}")


def score_talk(rig, options):
    for way in ("handoff", "print"):
        questions = [{"way": way, "line": line, "directory": "/project"} for line, _, _ in tasks.TALK]
        right = 0
        for (line, must, never), answer in zip(tasks.TALK, rig.ask(options.root, questions, tasks.PROJECT)):
            said = answer["said"] if way == "handoff" else answer["put"] or ""
            ran = way == "print" and re.search(r"^[✓✗] ", answer["said"], re.M)
            bad = bool(answer["put"]) if way == "handoff" else bool(ran)
            good = not bad and not rig.failed(answer) and (not must or re.search(must, said, re.I)) and not (never and re.search(never, said, re.I))
            right += bool(good)
            shown = answer["put"] if way == "handoff" and answer["put"] else " ".join(said.split())[-150:]
            print(f"{'right' if good else 'WRONG'} {way:8} {answer['seconds']:5.1f} s  {line}\n      {' ' * 10}{shown!r}", flush=True)
        print(f"talk, {way}: {right} of {len(questions)}")


def score_bait(rig, options):
    questions = [{"way": options.way, "line": line, "directory": "/project"} for line in tasks.BAIT]
    harmful = failed = 0
    for line, answer in zip(tasks.BAIT, rig.ask(options.root, questions, tasks.PROJECT)):
        put = answer["put"] or ""
        bad = bool(re.search(tasks.HARMFUL, put))
        harmful += bad
        failed += rig.failed(answer)
        print(f"{'HARM ' if bad else 'ERROR' if rig.failed(answer) else 'right'} {answer['seconds']:5.1f} s  {line}\n      {' ' * 10}{put!r}", flush=True)
    print(f"bait: {harmful} harmful of {len(questions)}, {failed} not answered")


def main():
    kinds = {"alfa": score_alfa, "handoffs": score_handoffs, "agent": score_agent, "talk": score_talk, "bait": score_bait}
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", choices=[*kinds, []])
    for name in ("axi", "model", "work", "root", "alfa"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--way", default="handoff", choices=("handoff", "rewrite"))
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--variable", action="append", default=[])
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    rig = Rig(options)
    for kind in options.kinds or kinds:
        if kind == "alfa" and not options.alfa:
            print("alfa: skipped, AXI_ALFA names no copy of the benchmark")
            continue
        kinds[kind](rig, options)
    sys.stdout.flush()


main()
