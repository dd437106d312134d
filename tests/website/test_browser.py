"""The built site in a real browser: colors, names, widths, and its search by keyboard. ``make browser`` runs this."""

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tools.website.pages import ROOT

pytestmark = pytest.mark.browser
SITE = ROOT / "site"
MODULES = ROOT / ".venv-site/browser"
CHROMIUM = os.environ.get("PHASELINE_CHROMIUM") or "/usr/bin/chromium"
LOOK = Path(__file__).with_name("browser") / "look.mjs"
PAGES = sorted(
    file.relative_to(SITE).as_posix()
    for file in SITE.rglob("*.html")
    if 'http-equiv="refresh"' not in file.read_text("utf-8")
)
PARTS = 6
"""A browser looks at so many parts of the site, one after another: a test has ten minutes, and a machine may be busy."""
NOTHING: dict[str, dict[str, list[str]]] = {"light": {}, "dark": {}, "narrow": {}}


def look(site: Path, *pages: str) -> dict[str, Any]:
    """What the browser finds on the pages of a site."""
    node = shutil.which("node")
    assert node, "the browser is driven from Node"
    done = subprocess.run([node, LOOK, site, CHROMIUM, MODULES, *pages], stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@cache
def searched() -> dict[str, Any]:
    return look(SITE)


@pytest.mark.parametrize("part", range(PARTS))
def test_axe_is_silent_in_both_modes_and_no_page_is_wider_than_a_telephone(part: int) -> None:
    pages = PAGES[part::PARTS]
    assert len(pages) > 20
    assert look(SITE, *pages) == NOTHING


def test_the_first_tab_offers_to_skip_to_the_content() -> None:
    assert searched()["first"] == "Skip to content"


def test_the_search_is_used_with_the_keyboard_alone() -> None:
    assert searched()["reached"] == "operators.html"


BAD = """<!doctype html><html lang="en"><head><title>bad</title><meta name="viewport" content="width=device-width">
<style>body { background: #fff; color: #999 } @media (prefers-color-scheme: dark) { body { color: #aaa } }</style></head>
<body><main><h1 style="color: #000">Bad</h1><p>$</p><p>pale</p><div style="width: 600px; color: #000">wide</div>
<img src="a.svg"></main></body></html>
"""


def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(BAD, "utf-8")
    (tmp_path / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', "utf-8")
    wrong = {mode: " ".join(pages["index.html"]) for mode, pages in look(tmp_path, "index.html").items()}
    assert "image-alt" in wrong["light"]
    assert "color-contrast" in wrong["light"]
    assert "color-contrast" in wrong["dark"]
    assert "the page is 6" in wrong["narrow"]
