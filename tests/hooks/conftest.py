"""Distributions that announce hook classes, on the path of the test alone."""

import sys
from pathlib import Path
from textwrap import dedent

import pytest


class Site:
    """A folder on ``sys.path`` into which distributions are put."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: list[str] = []

    def module(self, name: str, text: str) -> str:
        """Write a module; its name."""
        (self.folder / f"{name}.py").write_text(dedent(text))
        self.modules.append(name)
        return name

    def announce(self, distribution: str, group: str = "phaseline.hooks", **entries: str) -> None:
        """Write the metadata of a distribution that announces {name: module:Class}; with a name twice the last counts."""
        folder = self.folder / f"{distribution}-1.0.dist-info"
        folder.mkdir(exist_ok=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        lines = "\n".join(f"{name} = {target}" for name, target in entries.items())
        with (folder / "entry_points.txt").open("a") as file:
            file.write(f"[{group}]\n{lines}\n")


@pytest.fixture
def site(tmp_path, monkeypatch):
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    found = Site(folder)
    yield found
    for name in [*found.modules, *(name for name in sys.modules if name.partition(".")[0] in {"heat", "oslo_config"})]:
        sys.modules.pop(name, None)
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "HeatFinder"]
