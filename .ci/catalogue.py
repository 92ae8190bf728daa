#!/usr/bin/env python3
"""Makes src/provider/catalogue/models.tsv anew from a checkout of https://github.com/anomalyco/models.dev (MIT).

    .ci/catalogue.py CHECKOUT

Takes of each model only what axi uses, of the routes that src/provider/providers.json names, and of a route no model
that cannot write text. The form of a row is told in src/provider/catalogue/mod.rs.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

LIMIT = 150_000
EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]
HEAD = """\
# Models and their prices. Reduced from models.dev, {url} at {commit} of {date}.
# Copyright (c) 2025 models.dev, MIT licence: see LICENSE beside this file. Made by .ci/catalogue.py; not edited by hand.
"""


def merged(below, above):
    """Lays one table over another."""
    for name, value in above.items():
        both = isinstance(value, dict) and isinstance(below.get(name), dict)
        below[name] = merged(dict(below[name]), value) if both else value
    return below


def read(checkout, path):
    """Reads a model, laid over the one it is based on."""
    model = tomllib.loads(path.read_text())
    base = model.pop("base_model", None)
    if base is None:
        return model
    below = tomllib.loads((checkout / "models" / f"{base}.toml").read_text())
    for omitted in model.pop("base_model_omit", []):
        table, *names = [below, *omitted.split(".")]
        while len(names) > 1:
            table = table.get(names.pop(0), {})
        table.pop(names[0], None)
    return merged(below, model)


def number(value):
    """Writes a number as short as it can be."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def rates(cost):
    """Writes prices in dollars a million tokens: in, out, cached read, cached write."""
    parts = [number(cost[name]) if name in cost else "" for name in ("input", "output", "cache_read", "cache_write")]
    return "/".join(parts).rstrip("/")


def price(cost):
    """Writes all prices; those of long requests follow, each behind the tokens from which it holds."""
    if "input" not in cost or "output" not in cost:
        return ""
    tiers = [(tier["tier"]["size"], rates(tier)) for tier in cost.get("tiers", []) if "size" in tier.get("tier", {})]
    return ";".join([rates(cost)] + [f"{size}:{tier}" for size, tier in sorted(tiers)])


def thinking(name, options):
    """Writes how a model can be asked to think."""
    said = []
    for option in options:
        if option["type"] == "toggle":
            said.append("t")
        if option["type"] == "budget_tokens":
            said.append(f"b{option.get('min', '')}-{option.get('max', '')}")
    # models.dev does not tell adaptive thinking apart: it is what Claude has that takes an effort and no budget, and
    # what 4.6 has beside it.
    takes_effort = any(option["type"] == "effort" for option in options)
    adaptive = not any(part.startswith("b") for part in said) or any(v in name for v in ("4-6", "4.6"))
    if "claude" in name and takes_effort and adaptive:
        said.append("a")
    return ",".join(said)


def row(key, model):
    """Writes one row."""
    limit, modalities = model.get("limit", {}), model.get("modalities", {})
    options, cost = model.get("reasoning_options", []), model.get("cost", {})
    efforts = [value for option in options if option["type"] == "effort" for value in option.get("values", [])]
    flags = ""
    flags += "t" if model.get("tool_call") else ""
    flags += "v" if "image" in modalities.get("input", []) else ""
    flags += "s" if model.get("temperature") is not False else ""
    flags += "r" if model.get("reasoning") else ""
    if "claude" in key and "cache_write" in cost:
        flags += "m"
    elif "cache_read" in cost:
        flags += "a"
    tokens = [str(limit.get(name) or "") for name in ("context", "input", "output")]
    effort = "".join(str(index) for index, name in enumerate(EFFORTS) if name in efforts)
    day = lambda name: str(model.get(name, "")).replace("-", "")
    released, as_of = day("release_date"), day("last_updated")
    said = [key, released, "" if as_of == released else as_of, *tokens, flags, effort]
    return "\t".join([*said, thinking(key, options), price(cost)])


def main():
    """Writes the file."""
    checkout = Path(sys.argv[1])
    root = Path(__file__).resolve().parent.parent / "src" / "provider"
    git = lambda *words: subprocess.run(["git", "-C", checkout, *words], capture_output=True, text=True).stdout.strip()
    rows = []
    for provider in json.loads((root / "providers.json").read_text()):
        if not (route := provider.get("models_dev")):
            continue
        folder = checkout / "providers" / route / "models"
        # Some are links to another provider's, of which a few lead nowhere.
        for path in (path for path in folder.rglob("*.toml") if path.exists()):
            name = str(path.relative_to(folder))[: -len(".toml")]
            model = read(checkout, path)
            writes = model.get("modalities", {}).get("output", ["text"])
            if writes != ["text"] or "embed" in name:
                continue
            rows.append(row(f"{provider['name']}/{name}", model))
    rows.sort(key=lambda line: line.split("\t")[0].encode())
    head = HEAD.format(
        url="https://github.com/anomalyco/models.dev",
        commit=git("rev-parse", "--short=10", "HEAD") or sys.argv[2],
        date=git("log", "-1", "--format=%cs") or sys.argv[3],
    )
    text = head + "\n".join(rows) + "\n"
    if len(text.encode()) > LIMIT:
        sys.exit(f"{len(text.encode())} bytes are more than {LIMIT}")
    (root / "catalogue" / "models.tsv").write_text(text)
    (root / "catalogue" / "LICENSE").write_text((checkout / "LICENSE").read_text())
    print(f"{len(rows)} models, {len(text.encode())} bytes")


main()
