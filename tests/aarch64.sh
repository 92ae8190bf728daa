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
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# run WAYS FILTER RUNNER…: the tests must find just these ways, and there must be some.
run() {
  local ways=$1 filter=$2 passed
  shift 2
  echo "== $*: $ways"
  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$*" AXI_TEST_WAYS="$ways" \
    cargo test --locked --lib --target aarch64-unknown-linux-gnu "$filter" 2>&1 | tee "$log"
  passed=$(sed -n 's/^test result: ok\. \([0-9]*\) passed.*/\1/p' "$log")
  ((${passed:-0} > 0)) || { echo "== nothing was tested: no test is called $filter"; exit 1; }
  grep -q '^test .*kernel_tests::.* ok$' "$log" || echo "== the kernels were not among the $passed tests"
}
run "NEON dotprod, NEON" "${1:-provider::local}" qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu
# A processor without dotprod: the Cortex-A72 of many small boards.
run "NEON" "${1:-provider::local}" qemu-aarch64 -cpu cortex-a72 -L /usr/aarch64-linux-gnu
