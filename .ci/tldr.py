#!/usr/bin/env python3
"""Makes src/frontend/handoff/tldr.tsv anew from a checkout of https://github.com/tldr-pages/tldr (CC-BY-4.0).

    .ci/tldr.py CHECKOUT

Takes the examples of the programs below, a line each: the command, a tab, what it does. The long form of an option and the
braces around what a person fills in are taken out.
"""

import re
import subprocess
import sys
from pathlib import Path

LIMIT = 300_000
LONGEST = 110
HEAD = """\
# Examples of commands. Reduced from tldr-pages, https://github.com/tldr-pages/tldr at {commit} of {date}.
# Copyright (c) 2014 the tldr-pages team and contributors, CC-BY-4.0 (https://creativecommons.org/licenses/by/4.0/), changed:
# chosen, and their placeholders taken out. Made by .ci/tldr.py; not edited by hand.
"""
PROGRAMS = """
arch arp awk b2sum base32 base64 basename bat blkid brew bzip2 cal cat chgrp chmod chown chsh cksum cmp col column comm compare
convert cp cpio crontab csplit curl cut date dd df diff diff3 dig dir dircolors dirname dmesg dnf dpkg dpkg-query du env exa expand
expr fd file find findmnt fmt fold free fuser getconf getent git grep groups gunzip gzip head hexdump history host hostname
hostnamectl htop iconv id identify ifconfig iostat ip ip-address ip-link ip-route iw join journalctl jq kill killall last lastlog ldd
less ln locale localectl locate logname look ls lsattr lsblk lscpu lsfd lshw lslogins lsmem lsmod lsns lsof lspci lsusb md5sum mkdir
mkfifo mktemp more mount mpstat mv nc netstat nice nl nm nmap nohup nproc nslookup numfmt od openssl paste patch pgrep pidof ping
pinky pkill pmap pr printenv printf ps pstree pwd pwdx readelf readlink realpath rename renice rev rg rm rmdir route rsync sar scp
sdiff sed seq service sha1sum sha224sum sha256sum sha384sum sha512sum shasum shuf size sleep sort split ss stat strings stty sum
swapon sysctl systemctl tac tail tar taskset tee test timedatectl timeout top touch tput tr traceroute tree truncate tsort tty type
ulimit umask uname unexpand uniq unlink unxz unzip uptime users vmstat w wall watch wc wget whereis which who whoami whois xargs xxd
xz yes zcat zdiff zgrep zip zipinfo zless apt apt-cache
git-add git-archive git-bisect git-blame git-branch git-checkout git-cherry-pick git-clone git-commit git-config git-count-objects
git-describe git-diff git-fetch git-grep git-init git-log git-ls-files git-merge git-merge-base git-mv git-pull git-push git-rebase
git-reflog git-remote git-reset git-restore git-revert git-rev-list git-rev-parse git-shortlog git-show git-stash git-status
git-submodule git-switch git-tag git-worktree
""".split()


def main():
    checkout = Path(sys.argv[1])
    git = ["git", "-C", str(checkout), "log", "-1", "--format=%H %cs"]
    commit, date = subprocess.run(git, check=True, capture_output=True, text=True).stdout.split()
    rows = []
    for program in PROGRAMS:
        pages = [checkout / "pages" / system / f"{program}.md" for system in ("common", "linux")]
        for page in [page for page in pages if page.exists()][:1]:
            for says, command in re.findall(r"^- (.*):\n\n`(.*)`$", page.read_text(), re.M):
                command = re.sub(r"\{\{\[([^|\]]*)\|[^\]]*\]\}\}", r"\1", command)
                command = command.replace("{{", "").replace("}}", "")
                # What stands for something is not to be taken for its name.
                command = re.sub(r"https?://[^ '\"]+", "URL", command)
                command = re.sub(r"/?path/to/(directory|folder)[^ '\"]*", "DIRECTORY", command)
                command = re.sub(r"/?path/to/[^ '\"]+", "FILE", command)
                if len(command) <= LONGEST and "\t" not in command + says:
                    plain = re.sub(r"[`\[\]]", "", says)
                    rows.append(f"{command}\t{plain}\n")
    text = HEAD.format(commit=commit, date=date) + "".join(rows)
    if len(text.encode()) > LIMIT:
        sys.exit(f"{len(text.encode())} bytes, more than {LIMIT}")
    Path(__file__).parent.parent.joinpath("src/frontend/handoff/tldr.tsv").write_text(text)


main()
