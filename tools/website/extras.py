"""What stands beside the pages of the site: each page as Markdown, ``llms.txt``, and old addresses that lead to new ones."""

from __future__ import annotations

import html
import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tools.website import pages

ADDRESSES = Path(__file__).with_name("addresses.txt")
"""Every address that a released site had, one a line; ``old -> new`` once the page is elsewhere."""


def add(site: Path, tree: Mapping[str, str]) -> int:
    """Write them all into the finished site; how many pages it has."""
    for place, text in tree.items():
        if not place.startswith("python/"):  # made of docstrings: there is no text to show
            (site / place).write_text(text, "utf-8")
    for file in site.rglob("*.html"):
        file.write_text(with_named_search(file.read_text("utf-8")), "utf-8")
    (site / "llms.txt").write_text(overview(tree), "utf-8")
    for old, new in moved(ADDRESSES.read_text("utf-8")).items():
        file = site / old
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(redirect(posixpath.relpath(new, posixpath.dirname(old) or ".")), "utf-8")
    return len(tree)


def with_named_search(text: str) -> str:
    """The page with a name for its search, which a screen reader says; the theme gives none.

    >>> with_named_search('<div class="md-search" data-md-component="search" role="dialog">')
    '<div class="md-search" data-md-component="search" role="dialog" aria-label="Search">'
    """
    dialog = '<div class="md-search" data-md-component="search" role="dialog"'
    return text.replace(f"{dialog}>", f'{dialog} aria-label="Search">')


def overview(tree: Mapping[str, str]) -> str:
    """``llms.txt``: the pages in the order of the navigation, each with its address as Markdown and what a reader has of it."""
    config = yaml.load((pages.ROOT / "mkdocs.yml").read_text("utf-8"), Loader=Lenient)  # noqa: S506 - derived from SafeLoader
    lines = [f"# {config['site_name']}", "", f"> {config['site_description']}", ""]
    for part in config["nav"]:
        for title, below in part.items():
            lines += [f"## {title}", ""]
            lines += [entry(place, tree[place]) for place in leaves(below) if not place.startswith("python/")]
            lines.append("")
    return "\n".join(lines)


def entry(place: str, text: str) -> str:
    """One line of it."""
    kind = pages.KIND.match(text)
    return f"- [{pages.title_of(text)}]({place})" + (f": {' '.join(kind['result'].split())}" if kind else "")


def leaves(entries: list[Any]) -> list[str]:
    """The pages of a part of the navigation, in order.

    >>> leaves(["a.md", {"More": ["b.md", {"Still more": ["c.md"]}]}])
    ['a.md', 'b.md', 'c.md']
    """
    found: list[str] = []
    for item in entries:
        if isinstance(item, str):
            found.append(item)
        else:
            for below in item.values():
                found += leaves(below) if isinstance(below, list) else [below]
    return found


class Lenient(yaml.SafeLoader):
    """Reads a configuration whose tags name things of other programs."""


Lenient.add_multi_constructor("", lambda _loader, _suffix, _node: None)


def moved(text: str) -> dict[str, str]:
    r"""{old address: new one}.

    >>> moved("a.html\nb.html -> c/d.html\n")
    {'b.html': 'c/d.html'}
    """
    pairs = (line.split(" -> ") for line in text.splitlines() if " -> " in line)
    return {old.strip(): new.strip() for old, new in pairs}


def redirect(target: str) -> str:
    """A page that leads to another one, also without scripts."""
    to = html.escape(target, quote=True)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>This page has moved</title>'
        f'<link rel="canonical" href="{to}"><meta http-equiv="refresh" content="0; url={to}"></head>'
        f'<body><main><h1>This page has moved</h1><p><a href="{to}">Go to its new place</a></p></main></body></html>\n'
    )


def addresses(site: Path) -> list[str]:
    """Every page of a finished site."""
    return sorted(file.relative_to(site).as_posix() for file in site.rglob("*.html") if file.name != "404.html")


def record(site: Path = pages.ROOT / "site") -> None:
    """Add the addresses of this site to the list, before a release; no line is taken away."""
    known = ADDRESSES.read_text("utf-8").splitlines() if ADDRESSES.exists() else []
    have = {line.split(" -> ")[0] for line in known}
    ADDRESSES.write_text("\n".join(sorted([*known, *(set(addresses(site)) - have)])) + "\n", "utf-8")


if __name__ == "__main__":
    record()
