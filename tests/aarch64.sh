#!/usr/bin/env bash
# The kernels of axi's own engine for aarch64, on another processor: built for it and run by qemu, each way against the
# plain one.
#
#   bash tests/aarch64.sh [FILTER]        default provider::local
#
# Needs the standard library (rustup target add aarch64-unknown-linux-gnu), aarch64-linux-gnu-gcc and qemu-aarch64. No
# part of tests/run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for program in qemu-aarch64 aarch64-linux-gnu-gcc; do
  command -v "$program" >/dev/null || { echo "$program is missing (Debian: qemu-user, gcc-aarch64-linux-gnu)"; exit 1; }
done
export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
run() { CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$1" cargo test --locked --lib --target aarch64-unknown-linux-gnu "$2"; }
run "qemu-aarch64 -L /usr/aarch64-linux-gnu" "${1:-provider::local}"
# A processor without dotprod: the Cortex-A72 of many small boards.
run "qemu-aarch64 -cpu cortex-a72 -L /usr/aarch64-linux-gnu" "${1:-provider::local}"
