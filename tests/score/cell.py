"""A cell: a command in namespaces of its own (files, processes, network), on a layer over a root folder.

Nothing it does reaches the machine: the root is the lower side of an overlay, what is written goes to a folder of the
cell, there is no network, and who runs it is an unprivileged user that is root inside only.
"""

import os
import shutil
import subprocess
import tempfile

MOUNT = r"""
set -e
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$CELL/upper,workdir=$CELL/work,userxattr" "$CELL/root"
cd "$CELL/root"
mkdir -p proc dev tmp
mount -t proc proc proc
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do : >dev/$name; mount --bind /dev/$name dev/$name; done
ln -s /proc/self/fd dev/fd; ln -s /proc/self/fd/0 dev/stdin; ln -s /proc/self/fd/1 dev/stdout; ln -s /proc/self/fd/2 dev/stderr
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
while read -r how from to; do
  [ -n "$from" ] || continue
  if [ -d "$from" ]; then mkdir -p "./$to"; else mkdir -p "./${to%/*}"; [ -e "./$to" ] || : >"./$to"; fi
  mount --bind "$from" "./$to"
  # The flags that a mount has from outside must stay, or the kernel refuses.
  if [ "$how" = ro ]; then
    flags=$(awk -v at="$(realpath "./$to")" '$5 == at { found = $6 } END { print found }' /proc/self/mountinfo)
    kept=ro,bind; for flag in nosuid nodev noexec noatime relatime; do case ",$flags," in *",$flag,"*) kept=$kept,$flag ;; esac; done
    mount -o "remount,$kept" "./$to"
  fi
done <<<"$BINDS"
ip link set lo up 2>/dev/null || :
exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOSTNAME=cell $VARIABLES \
  chroot . "$@"
"""


def make(folder):
    """Makes a cell's folders; the upper one holds what is written."""
    cell = tempfile.mkdtemp(prefix="cell.", dir=folder)
    for name in ("upper", "work", "root"):
        os.mkdir(os.path.join(cell, name))
    return cell


def drop(cell):
    """Forgets a cell; the overlay leaves a folder that its owner must open first."""
    subprocess.run(["chmod", "-R", "u+rwX", cell], stderr=subprocess.DEVNULL, check=False)
    shutil.rmtree(cell, ignore_errors=True)


def run(cell, lower, argv, binds=(), variables=None, stdin=None, seconds=20, most=1 << 20):
    """Runs a command; returns (exit code or None after the time, standard output, standard error).

    binds: "ro" or "rw", a file or folder of the machine, where it is in the cell; the outer one before what is in it."""
    environment = {
        "PATH": os.environ["PATH"],
        "LOWER": lower,
        "CELL": cell,
        "BINDS": "\n".join(f"{how} {source} {target.lstrip('/')}" for how, source, target in binds),
        "VARIABLES": " ".join(f"{name}={value}" for name, value in (variables or {}).items()),
    }
    command = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--net", "--uts", "--ipc",
               "bash", "-c", MOUNT, "cell", *argv]
    child = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = child.communicate(stdin, timeout=seconds)
        code = child.returncode
    except subprocess.TimeoutExpired:
        child.kill()
        out, err = child.communicate()
        code = None
    return code, out[:most], err[:most]
