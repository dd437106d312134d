"""Blueprints of many templates: read, validated, planned and stored, against PyYAML's C loader and against the peer."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import blueprints, peer
from bench.figures import ROOT, Spread, runs
from bench.report import Row

MAPPING = "bench.bench_native.bulk"
MANY, MOST, FEW = 10_000, 100_000, 1_000
DEFINITIONS = 160 * 1024
IMPORTER = """tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml, plugin.yaml]
node_templates:
  one: {type: cloud.nodes.Kind0}
"""


def rows(count: int) -> list[Row]:
    """All figures of this page."""
    print("blueprints of 10,000 templates with relationships", flush=True)
    text = blueprints.related(MANY, MAPPING)
    both = [_loaded(text, "yaml") for _ in range(count)]
    loader, least = Spread(tuple(one["seconds"] for one in both)), Spread(tuple(one["cpu"] for one in both))
    run = runs(text, store="store.db", count=count)
    ours, processor = run.spread("until_first_call"), run.spread("cpu_until_first_call")
    times, share = ours.median / loader.median, processor.median / least.median
    return [
        Row(f"CSafeLoader alone, fresh process, no cycle collector: {MANY:,} templates, {len(text) / 1e6:.1f} MB", loader.text("s")),
        Row("reading, validating, planning, storing the same", f"{ours.text('s')}: {times:.2f} × the loader", "≤ 1 ×", times <= 1),
        Row("reading, validating, planning, storing the same: processor time", f"{processor.text('s')}: {share:.2f} × the loader's {least.text('s')}", "≤ 1 ×", share <= 1),
        _as_json(loader, count),
        _growth(ours),
        _with_mistake(text, count),
        *_against_peer(count),
        _definition_file(count),
    ]  # fmt: skip


def measured(text: str, what: str, count: int) -> Spread:
    """Seconds of ``bench.loading`` (``yaml`` or ``read``) in processes of their own."""
    return _spread(lambda: _loaded(text, what)["seconds"], count)


def _loaded(text: str, what: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        file = Path(folder) / "blueprint.yaml"
        file.write_text(text, "utf-8")
        command = [sys.executable, "-m", "bench.loading", what, str(file)]
        told: dict[str, float] = json.loads(subprocess.check_output(command, cwd=ROOT))
        return told


def _spread(one: Callable[[], float], count: int) -> Spread:
    return Spread(tuple(one() for _ in range(count)))


def _as_json(loader: Spread, count: int) -> Row:
    text = blueprints.related(MANY, MAPPING, as_json=True)
    ours = runs(text, store="store.db", count=count).spread("until_first_call")
    times = ours.median / loader.median
    return Row("the same as JSON", f"{ours.text('s')}: {times:.2f} × the loader", "≤ 0.6 ×", times <= 0.6)


def _growth(small: Spread) -> Row:
    large = runs(blueprints.related(MOST, MAPPING), store="store.db", count=1).spread("until_first_call")
    exponent = math.log(large.median / small.median) / math.log(MOST / MANY)
    what = f"{exponent:.2f} ({large.median:.1f} s at {MOST:,})"
    return Row(f"growth from {MANY:,} to {MOST:,} templates", what, "exponent ≤ 1.05", exponent <= 1.05)


def _with_mistake(text: str, count: int) -> Row:
    """One wrong type in the middle, told with its line, against reading the file without it."""
    clean = measured(text, "read", count)
    lines = text.split("\n")
    middle = next(number for number in range(len(lines) // 2, len(lines)) if lines[number] == "    type: bench.Node")
    lines[middle] = "    type: bench.Nod"
    wrong = measured("\n".join(lines), "read", count)
    times = wrong.median / clean.median
    what = f"{wrong.text('s')}: {times:.2f} × a clean reading ({clean.text('s')})"
    return Row(f"one mistake in {MANY:,} templates, with its place", what, "≤ 1.5 ×", times <= 1.5)


def _against_peer(count: int) -> list[Row]:
    """The same 1,000 templates in the same run; the peer parses and prepares, ours stores besides."""
    text = blueprints.related(FEW, MAPPING)
    ours = runs(text, store="store.db", count=count).spread("until_first_call")
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        file = Path(folder) / "blueprint.yaml"
        file.write_text(text, "utf-8")
        command = [str(peer.make_ready()), str(Path(peer.__file__).parent / "peers" / "cloudify_parse.py"), str(file)]
        theirs = sum(json.loads(subprocess.check_output(command).splitlines()[-1]).values())
    times = theirs / ours.median
    return [
        Row(f"cloudify-common 7.0.5 parses and prepares {FEW:,} templates", f"{theirs:.1f} s"),
        Row(
            "ours reads, plans and stores them",
            f"{ours.text('s', 3)}: {times:.0f} × the peer",
            "≥ 120 ×",
            times >= 120,
        ),
    ]


def _definition_file(count: int) -> Row:
    """The whole command, cold, for a blueprint with one node that imports a large definition file."""
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        (Path(folder) / "plugin.yaml").write_text(blueprints.definitions(DEFINITIONS), "utf-8")
        (Path(folder) / "blueprint.yaml").write_text(IMPORTER, "utf-8")
        command = [sys.executable, "-m", "phaseline", "blueprints", "validate", "blueprint.yaml"]
        environment = {**os.environ, "PHASELINE_STORE_URL": "memory:"}

        def once() -> float:
            began = time.perf_counter()
            subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
            return time.perf_counter() - began

        cold = _spread(once, max(count, 3))
    return Row(
        f"validating a blueprint that imports {DEFINITIONS // 1024} KB of definitions, cold",
        cold.text("s"),
        "≤ 0.5 s",
        cold.median <= 0.5,
    )


if __name__ == "__main__":
    for row in rows(1):
        print(row.what, "|", row.measured, "|", row.target, row.verdict)
