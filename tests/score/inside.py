"""Asks axi inside of a cell, as a shell's hook or a script does. Reads a list of questions as JSON from standard input, and
prints a JSON object a line for each."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

ESCAPES = re.compile(r"\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[@-_]|[\r\x00]")


def base(question):
    environment = dict(os.environ)
    environment.update(question.get("variables", {}))
    environment.update({"TERM": "xterm-256color", "AXI_SHELL": question.get("shell", "bash"), "AXI_SHELL_VERSION": "5.2",
                        "AXI_STATUS": "0", "AXI_LINE": question["line"]})
    return environment


def hand_over(axi, question):
    """Ctrl+G: what stands on the prompt line then, and what the screen shows."""
    reply = "/tmp/reply/axi/1-%d-1.reply" % os.getpid()
    environment = base(question)
    environment.update({"AXI_REPLY": reply, "AXI_SESSION": "1-%d-%d" % (os.getpid(), question["number"])})
    if os.path.exists(reply):
        os.remove(reply)
    child, screen = pty.fork()
    if child == 0:
        os.chdir(question["directory"])
        os.execve(axi, [axi, "handoff"], environment)
    shown, ends = b"", time.monotonic() + question["seconds"]
    answered = 0
    while time.monotonic() < ends:
        ready, _, _ = select.select([screen], [], [], 0.2)
        if not ready:
            continue
        try:
            piece = os.read(screen, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        # A terminal says what it is, and where the cursor is.
        for asked, answer in ((b"\x1b[c", b"\x1b[?62;22c"), (b"\x1b[6n", b"\x1b[1;1R"), (b"\x1b[5n", b"\x1b[0n")):
            for _ in range(piece.count(asked)):
                os.write(screen, answer)
        if b"[Y/n]" in shown[answered:]:
            answered = len(shown)
            os.write(screen, b"n\r")
    else:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(screen)
    put = None
    if os.path.exists(reply):
        with open(reply, "rb") as file:
            text = file.read().decode("utf-8", "replace")
        put = text.split("put\n", 1)[1] if "put\n" in text else None
    text = ESCAPES.sub("", shown.decode("utf-8", "replace"))
    # The line itself goes back where there is no command, unless it is the command.
    if put == question["line"] and f"▌ {put}" not in text:
        put = None
    return {"put": put, "said": text, "code": status}


def ask(argv, question):
    try:
        done = subprocess.run(argv, cwd=question["directory"], env=base(question), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=question["seconds"], check=False)
        return {"put": done.stdout.decode("utf-8", "replace").strip("\n"), "said": done.stderr.decode("utf-8", "replace"),
                "code": done.returncode}
    except subprocess.TimeoutExpired:
        return {"put": None, "said": "time over", "code": None}


def main():
    axi = sys.argv[1]
    for number, question in enumerate(json.load(sys.stdin)):
        question.setdefault("directory", "/")
        question.setdefault("seconds", 120)
        question["number"] = number
        begun = time.monotonic()
        if question["way"] == "handoff":
            answer = hand_over(axi, question)
        elif question["way"] == "rewrite":
            answer = ask([axi, "handoff", "--rewrite"], question)
        else:
            answer = ask([axi, "-y", "--no-session", "-p", question["line"]], question)
        answer["seconds"] = round(time.monotonic() - begun, 2)
        print(json.dumps(answer), flush=True)


main()
