"""``python -m tools.pictures``: play the demonstration, draw what it printed, and draw the diagrams of the pages.

A recording whose words are those of the last one is thrown away, whatever its figures: pictures change only when the
program says something else.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from phaseline.demo.acts import run_demo
from tools.pictures.cast import COLUMNS, acts_of, as_cast, words
from tools.pictures.terminal import as_svg

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "docs/demo"
CAST = DEMO / "demo.cast"
ACTS = {
    "act-1": "Three processes are installed from a blueprint, and a page shows that they work together",
    "act-2": "50 machines, then 500, with hardly more calls to the cloud",
    "act-3": "An install is killed with kill -9 and resumed; nothing is made twice",
    "act-4": "Eight machines fail for a quota; the reason is shown, and only they are retried",
    "act-5": "Everything is uninstalled, and nothing is left",
}
"""{picture: what it shows}, one for each act of the demonstration, in their order."""
DIAGRAMS = {"web": "examples/01-web/blueprint.yaml"}
"""{picture: the blueprint that it shows}."""


def main() -> int:
    """Record and draw; 0 if every claim of the demonstration held."""
    texts: list[str] = []
    console = Console(record=True, width=COLUMNS, force_terminal=True)
    with tempfile.TemporaryDirectory() as folder:
        code = run_demo(Path(folder) / "demo", console, lambda _: texts.append(console.export_text(styles=True)))
    if code:
        return code
    keep_or_replace(as_cast("phaseline demo", dict(zip(ACTS, texts, strict=True))))
    for name, text in pictures(CAST.read_text("utf-8")).items():
        (DEMO / name).write_text(text, "utf-8")
    return 0


def keep_or_replace(recorded: str) -> None:
    """Keep the last recording if this one has the same words."""
    last = CAST.read_text("utf-8") if CAST.exists() else ""
    if said(last) != said(recorded):
        CAST.write_text(recorded, "utf-8")


def said(cast: str) -> dict[str, list[str]]:
    """{act: what it says}."""
    return {name: words(lines) for name, lines in acts_of(cast).items()}


def pictures(cast: str) -> dict[str, str]:
    """{file: its text}: a picture of each act in the recording, and the diagrams."""
    acts = {f"{name}.svg": as_svg(ACTS[name], lines) for name, lines in acts_of(cast).items()}
    return acts | {f"{name}.svg": diagram(ROOT / blueprint) for name, blueprint in DIAGRAMS.items()}


def diagram(blueprint: Path) -> str:
    """The picture that ``phaseline blueprints graph --format svg`` draws of a blueprint."""
    words = [sys.executable, "-m", "phaseline", "blueprints", "graph", blueprint.name, "--format", "svg"]
    return subprocess.run(words, cwd=blueprint.parent, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
