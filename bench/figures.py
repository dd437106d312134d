"""Runs of one figure: each in a process of its own, summed up as median and spread."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Spread:
    """A figure measured several times."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The one to quote."""
        return statistics.median(self.values)

    def text(self, unit: str, digits: int = 2) -> str:
        """Median and, in brackets, the smallest and the largest."""
        low, high = min(self.values), max(self.values)
        return f"{self.median:.{digits}f} {unit} ({low:.{digits}f}–{high:.{digits}f})"


@dataclass(frozen=True)
class Runs:
    """Several runs of ``bench.one`` with the same arguments."""

    results: tuple[Mapping[str, object], ...]

    def spread(self, key: str) -> Spread:
        """One of the numbers that each run printed."""
        return Spread(tuple(float(str(result[key])) for result in self.results))


def run_one(blueprint: str, *, store: str, die_at: int = 0, resume: bool = False, folder: Path) -> dict[str, object]:
    """One run of ``bench.one``; ``store`` is ``memory:``, the name of a file in ``folder`` or the URL of a database.

    A run that was killed gives ``until_death`` alone.
    """
    file = folder / "blueprint.yaml"
    if not file.exists() or file.read_text() != blueprint:
        file.write_text(blueprint)
    where = store if store == "memory:" or store.startswith("postgresql:") else str(folder / store)
    command = [sys.executable, "-m", "bench.one", str(file), where, *(["--resume"] if resume else [])]
    environment = {**os.environ, "BENCH_DIE_AT": str(die_at)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in {0, -9}:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    result: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    if done.returncode == 0 and result["statuses"] != ["completed", "completed"]:
        sys.exit(f"{' '.join(command)} did not complete: {result}")
    return result


def runs(blueprint: str, *, store: str, count: int) -> Runs:
    """``count`` runs on stores that begin empty."""
    return Runs(tuple(_fresh(lambda folder: run_one(blueprint, store=store, folder=folder)) for _ in range(count)))


def killed_and_resumed(blueprint: str, *, die_at: int) -> dict[str, object]:
    """The second of two runs: the first was killed in its ``die_at``-th call, the second goes on and uninstalls."""

    def both(folder: Path) -> dict[str, object]:
        killed = run_one(blueprint, store="store.db", die_at=die_at, folder=folder)
        if "until_death" not in killed:
            sys.exit("the run to be killed was over too soon")
        resumed = run_one(blueprint, store="store.db", resume=True, folder=folder)
        both = float(str(killed["processor"])) + float(str(resumed["processor"]))
        return resumed | {"both": float(str(killed["until_death"])) + float(str(resumed["total"])), "processor": both}

    return _fresh(both)


def _fresh(work: Callable[[Path], dict[str, object]]) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        return work(Path(folder))
