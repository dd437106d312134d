"""Rows of work that is small, that comes in crowds, that sleeps or that is deep: whatever bulk does not help by itself."""

from __future__ import annotations

import compileall
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from bench import blueprints, floor
from bench.figures import ROOT, Runs, Spread, runs
from bench.report import Row

BULK, POLL, COMMIT_EACH = "bench.bench_native.bulk", "bench.bench_native.poll", "bench.bench_ctx.commit_each"
LISTED, TOLD = 1_000, 100_000
TEN, HUGE, CROWD, ASLEEP, DEEP, COMMITTED = 10, 1_000_000, 10_000, 100_000, 10_000, 300
COLD_RUNS, WARM_RUNS = 11, 40
POLLS, OPERATIONS = 20, 9
PROGRAM = Path(sys.executable).parent / "phaseline"


def script(name: str, *arguments: str, **environment: str) -> dict[str, object]:
    """The line of JSON that a script of the bench prints."""
    command = [sys.executable, "-m", f"bench.{name}", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    told: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return told


def on_a_store(name: str, blueprint: str, *arguments: str, **environment: str) -> dict[str, object]:
    """The same, of a script that is given a blueprint file and the path of a store that begins empty."""
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        (Path(folder) / "blueprint.yaml").write_text(blueprint)
        return script(name, f"{folder}/blueprint.yaml", f"{folder}/store.db", *arguments, **environment)


def _command(folder: str, *words: str) -> tuple[float, float]:
    """Seconds of a command, from the start of its process to the end, and its processor time."""
    plugins = str(ROOT / "bench" / "plugins")
    environment = {"PHASELINE_STORE_URL": f"sqlite:///{folder}/store.db", "PYTHONPATH": f"{ROOT}:{plugins}"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [str(PROGRAM), *words], cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    took = time.perf_counter() - began
    if done.returncode != 0:
        sys.exit(f"phaseline {' '.join(words)} failed:\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def commands() -> list[Row]:
    """Install, uninstall and the plan of ten no-op instances: as commands, and in one process."""
    print("ten instances, cold and warm", flush=True)
    compileall.compile_dir(ROOT / "src" / "phaseline", quiet=1)  # as pip does at installation
    laps: dict[str, list[float]] = {"install": [], "uninstall": []}
    text, planned = blueprints.scaled("flat", TEN, BULK), []
    as_yaml = yaml.safe_dump(json.loads(text), sort_keys=False)
    for _ in range(COLD_RUNS):
        with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
            (Path(folder) / "blueprint.yaml").write_text(text)
            laps["install"].append(_command(folder, "install", "blueprint.yaml", "-d", "bench")[0])
            laps["uninstall"].append(_command(folder, "uninstall", "-d", "bench")[0])
            (Path(folder) / "blueprint.yaml").write_text(as_yaml)
            planned.append(_command(folder, "plan", "install", "blueprint.yaml")[1])
    plan = Spread(tuple(planned))
    rows = [
        Row(f"cold command, plan install of {TEN}: processor time", plan.text("s"), "≤ 0.15 s", plan.median <= 0.15)
    ]
    for word, values in laps.items():
        cold = Spread(tuple(values))
        rows.append(
            Row(f"cold command, {word} of {TEN}, SQLite, full sync", cold.text("s"), "≤ 0.25 s", cold.median <= 0.25)
        )
    told = on_a_store("warm", text, str(WARM_RUNS))
    for word in laps:
        warm = Spread(tuple(1000 * float(value) for value in told[word]))  # type: ignore[attr-defined]  # a list, as warm prints it
        rows.append(
            Row(
                f"warm, in one process, {word} of {TEN}, SQLite, full sync",
                warm.text("ms", 1),
                "≤ 5 ms",
                warm.median <= 5,
            )
        )
    return rows


def lists(count: int) -> list[Row]:
    """Lists over a thousand deployments: processor time in one process, and SQL statements."""
    print("lists of 1,000 deployments", flush=True)
    text = blueprints.scaled("tier", 24, BULK)
    told = [on_a_store("listing", text, str(LISTED)) for _ in range(min(count, 2))]
    rows = []
    for name, bound in (("deployments", 50), ("executions", 20), ("instances", 100), ("status", 30)):
        parts = [one[name] for one in told]
        ms = Spread(tuple(float(value) for part in parts for value in part["ms"]))  # type: ignore[index]  # as listing prints it
        statements = int(parts[0]["statements"])  # type: ignore[index]  # as listing prints it
        what = f"the list of {name}" if name != "status" else "status"
        measured = f"{ms.text('ms', 1)}, {statements} statements"
        rows.append(
            Row(f"{LISTED:,} deployments, {what}: processor time", measured, f"≤ {bound} ms", ms.median <= bound)
        )
    return rows


def histories(count: int) -> list[Row]:
    """The last events of an execution of very many instances, and of a small one: the whole command, cold."""
    print(f"events of {TOLD:,} instances", flush=True)
    rows = []
    for size, seconds, megabytes in ((TEN, 0.5, 60), (TOLD, 1.0, 160)):
        with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
            (Path(folder) / "blueprint.yaml").write_text(blueprints.scaled("flat", size, BULK))
            _command(folder, "install", "blueprint.yaml", "-d", "bench")
            laps = [_used(folder, "executions", "events", "-d", "bench", "--limit", "50") for _ in range(count)]
        took = Spread(tuple(seconds for seconds, _ in laps))
        peak = Spread(tuple(bytes_ / 1e6 for _, bytes_ in laps))
        what = f"the last 50 events of {size:,} instances"
        rows += [
            Row(f"{what}: processor time", took.text("s"), f"≤ {seconds:g} s", took.median <= seconds),
            Row(f"{what}: peak memory", peak.text("MB", 0), f"≤ {megabytes} MB", peak.median <= megabytes),
        ]
    return rows


BESIDE = """
import os, sys
nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
begun = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=nowhere)
_, status, used = os.wait4(begun, 0)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss)
"""
"""A small process that starts the command: a child begins with the peak of who starts it, and the bench may be large."""


def _used(folder: str, *words: str) -> tuple[float, int]:
    """Seconds of processor time and bytes at the peak of a command."""
    environment = {"PHASELINE_STORE_URL": f"sqlite:///{folder}/store.db", "PYTHONPATH": str(ROOT)}
    line = [sys.executable, "-S", "-c", BESIDE, str(PROGRAM), *words]
    told = subprocess.run(line, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=True)
    code, seconds, bytes_ = told.stdout.split()
    if code != "0":
        sys.exit(f"phaseline {' '.join(words)} failed")
    return float(seconds), int(bytes_)


def huge(count: int) -> list[Row]:
    """A million independent instances."""
    print("1,000,000 instances", flush=True)
    measured = runs(blueprints.scaled("flat", HUGE, BULK), store="store.db", count=min(count, 2))
    total = measured.spread("total")
    memory = Spread(tuple(value / 1e6 for value in measured.spread("bytes").values))
    what = "peak memory above the empty process, 1,000,000 flat"
    return [
        Row(f"flat, {HUGE:,} × {OPERATIONS}", total.text("s", 1), "≤ 30 s", total.median <= 30),
        Row(what, memory.text("MB", 0), "≤ 700 MB", memory.median <= 700),
    ]


def crowd(count: int) -> list[Row]:
    """Ten thousand executions of one instance each."""
    print("10,000 executions", flush=True)
    told = [script("crowd", str(CROWD)) for _ in range(count)]
    each = Runs(tuple(told)).spread("microseconds")
    sizes, wanted = told[0]["sizes"], told[0]["wanted"]
    assert isinstance(sizes, list)
    batches = f"{len(sizes)}, {min(sizes):,} to {max(sizes):,} members"
    name = f"{CROWD:,} executions of one instance, submitted at once"
    return [
        Row(f"{name}: in the engine", each.text("µs an entry", 1), "≤ 10 µs", each.median <= 10),
        Row(f"{name}: batches", batches, "as one execution of all", sizes == wanted),
    ]


def sleepers(count: int) -> list[Row]:
    """A hundred thousand sleeping instances, polled twenty times."""
    print("100,000 sleeping", flush=True)
    text = blueprints.started(ASLEEP, POLL)
    told = Runs(tuple(on_a_store("sleepers", text, BENCH_SLEEPERS=str(ASLEEP)) for _ in range(count)))
    each, idle, calls = told.spread("microseconds"), told.spread("idle"), told.spread("calls").median
    idle = Spread(tuple(100 * value for value in idle.values))
    name = f"{ASLEEP:,} sleeping, polled {POLLS} times"
    return [
        Row(f"{name}: processor time", each.text("µs an entry a round", 1), "≤ 3 µs", each.median <= 3),
        Row(f"{name}: calls", f"{calls:.0f}", f"{POLLS}", calls <= POLLS),
        Row(f"{ASLEEP:,} sleeping: processor while nothing is due", idle.text("%"), "< 0.5 %", idle.median < 0.5),
    ]


def commits(count: int) -> list[Row]:
    """Calls that are stored one by one, against the least that so many commits take."""
    print("stored one by one, and a deep chain", flush=True)
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        least = Spread(tuple(1e6 * floor.commits(Path(folder), DEEP) / DEEP for _ in range(count)))
    each = runs(blueprints.scaled("flat", COMMITTED, COMMIT_EACH), store="store.db", count=count).spread("total")
    ours = Spread(tuple(1e6 * value / (COMMITTED * OPERATIONS) for value in each.values))
    share = least.median / ours.median
    chain = runs(blueprints.deep(DEEP, BULK), store="store.db", count=1 if count == 1 else 2)
    walked = Spread(tuple(
        1e6 * (float(str(one["install"])) - float(str(one["until_first_call"]))) / DEEP for one in chain.results
    ))  # fmt: skip
    times = walked.median / least.median
    return [
        Row("floor: commits of one narrow row", least.text("µs each", 0)),
        Row(
            f"not repeatable, with ctx, stored one by one, {COMMITTED} × {OPERATIONS}",
            f"{ours.text('µs a call', 0)}: {share:.0%} of the speed of the commit floor", "≥ 50 %", share >= 0.5,
        ),
        Row(
            f"a chain {DEEP:,} deep, from the first call on",
            f"{walked.text('µs a call', 0)}: {times:.1f} × the commit floor", "≤ 2 ×", times <= 2,
        ),
    ]  # fmt: skip


def rows(count: int) -> list[Row]:
    """All of them."""
    return [
        *huge(count),
        *crowd(count),
        *commands(),
        *lists(count),
        *histories(count),
        *commits(count),
        *sleepers(min(count, 2)),
    ]
