"""``python -m phaseline.demo [--pictures FOLDER]``: the demonstration, and its pictures for the documentation."""

import argparse
import re
import sys
from pathlib import Path

from rich.console import Console

from phaseline.demo.acts import FOLDER, run_demo

FONTS_FROM_THE_NETWORK = re.compile(r"@font-face \{[^}]*\}\s*")
"""Omitted from the pictures, as every viewer has a fixed-width font."""


def main() -> int:
    """Run the demonstration; with ``--pictures`` also draw the terminal's output, a file for each act."""
    parser = argparse.ArgumentParser(prog="python -m phaseline.demo", description="Phaseline's demonstration.")
    parser.add_argument("--pictures", type=Path, help="write a picture of each act to this folder")
    parser.add_argument("--folder", type=Path, default=Path(FOLDER), help="where files and store of it are left")
    chosen = parser.parse_args()
    folder: Path | None = chosen.pictures
    if folder is None:
        return run_demo(chosen.folder)
    console = Console(record=True, width=104, force_terminal=True)

    def draw(act: int) -> None:
        picture = console.export_svg(title="phaseline demo")
        (folder / f"act-{act}.svg").write_text(FONTS_FROM_THE_NETWORK.sub("", picture), "utf-8")

    return run_demo(chosen.folder, console, draw)


if __name__ == "__main__":
    sys.exit(main())
