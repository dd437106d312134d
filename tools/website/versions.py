"""``python -m tools.website.versions FOLDER``: put the built site beside those of earlier releases, for ``FOLDER`` to be published.

Each release has a folder named after it, ``latest`` is a copy of the newest one, and the theme lists them all.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from pathlib import Path

from tools.website import extras, pages

LATEST = "latest"
WITHOUT, WITH = '"version": null', '"version": {"provider": "mike", "alias": true}'
"""What a page tells the theme's script: not to ask for other versions, or to read ``versions.json`` above the site."""


def publish(site: Path, folder: Path, version: str) -> list[str]:
    """Add a release to the folder, or replace it; all its releases, newest first."""
    put(site, folder / version)
    known = sorted((one.name for one in folder.iterdir() if is_version(one.name)), key=numbers, reverse=True)
    if known[0] == version:
        put(site, folder / LATEST)
    listed = [{"version": one, "title": one, "aliases": [LATEST] if one == known[0] else []} for one in known]
    (folder / "versions.json").write_text(json.dumps(listed, indent=2) + "\n", "utf-8")
    (folder / "index.html").write_text(extras.redirect(f"{LATEST}/index.html"), "utf-8")
    return known


def put(site: Path, place: Path) -> None:
    """Copy a site, whose pages show the other versions from now on."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(site, place)
    for file in place.rglob("*.html"):
        file.write_text(file.read_text("utf-8").replace(WITHOUT, WITH), "utf-8")


def is_version(name: str) -> bool:
    """Whether a folder is that of a release.

    >>> is_version("0.10.0"), is_version("latest")
    (True, False)
    """
    return re.fullmatch(r"\d+(\.\d+)*", name) is not None


def numbers(version: str) -> list[int]:
    """What versions are sorted by.

    >>> max(["0.9.1", "0.10.0"], key=numbers)
    '0.10.0'
    """
    return [int(part) for part in version.split(".")]


def main(words: list[str]) -> int:
    """Publish the version that the project names."""
    if len(words) != 1:
        print("python -m tools.website.versions FOLDER")
        return 2
    version = tomllib.loads((pages.ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    known = publish(pages.ROOT / "site", Path(words[0]), version)
    print(f"{words[0]} has {', '.join(known)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
