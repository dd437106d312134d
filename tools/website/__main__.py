"""``python -m tools.website``: build the site into ``site/``, with both programs, and add what they do not write."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tools.website import extras, pages, public_modules

TREE = pages.ROOT / "build/pages"
SOURCES = pages.ROOT / "build/api"
SITE = pages.ROOT / "site"
BUILDERS = {
    "mkdocs": (["mkdocs", "build", "--quiet", "--strict"], SITE),
    "zensical": (["zensical", "build", "--strict", "--config-file", "mkdocs.yml"], pages.ROOT / "build/zensical"),
}
"""{program: its words, and the folder it writes}. Both must accept the pages; the first one's are shown."""
NOTHING_WRONG = {"Build started", "No issues found"}


def main() -> int:
    """Build; 0 if neither program found anything to say."""
    started = time.monotonic()
    written = pages.write(TREE)
    public_modules.copy(SOURCES)
    running = {name: start(words, folder) for name, (words, folder) in BUILDERS.items()}
    failed = False
    for name, process in running.items():
        said, _ = process.communicate()
        complaints = [line for line in said.splitlines() if line.strip() and not is_fine(line.strip())]
        seconds = time.monotonic() - started
        print(f"{name:10}{'ok' if not complaints and not process.returncode else 'FAILED':8}{seconds:5.1f} s")
        if complaints or process.returncode:
            print(said)
            failed = True
    if failed:
        return 1
    count = extras.add(SITE, written)
    print(f"{count} pages in {SITE.relative_to(pages.ROOT)}/")
    return 0


def start(words: list[str], folder: Path) -> subprocess.Popen[str]:
    """Start a program of this environment, which writes the site into ``folder``."""
    shutil.rmtree(folder, ignore_errors=True)
    programs = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PHASELINE_SITE": str(folder),
        "NO_MKDOCS_2_WARNING": "1",  # known: ADR 0036
    }
    return subprocess.Popen(
        [programs / words[0], *words[1:]],
        cwd=pages.ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def is_fine(line: str) -> bool:
    """Whether a line of a builder is about nothing wrong."""
    return line in NOTHING_WRONG or re.fullmatch(r"Build finished in [\d.]+m?s", line) is not None


if __name__ == "__main__":
    sys.exit(main())
