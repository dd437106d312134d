"""``python -m phaseline.demo [--folder FOLDER]`` runs the demonstration without the command ``phaseline``."""

import argparse
import sys
from pathlib import Path

from phaseline.demo.acts import FOLDER, run_demo


def main() -> int:
    """Run the demonstration, and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m phaseline.demo", description="Phaseline's demonstration.")
    parser.add_argument("--folder", type=Path, default=Path(FOLDER), help="where files and store of it are left")
    return run_demo(parser.parse_args().folder)


if __name__ == "__main__":
    sys.exit(main())
