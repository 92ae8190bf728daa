#!/usr/bin/env bash
# Draws tests/picture.svg, the picture in README, anew: a turn of the real program on a terminal (tests/it/picture.rs).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
AXI_DRAW_PICTURE=1 cargo test --locked --test it -- --exact picture::the_picture_shows_what_axi_prints --nocapture
