"""The built site, as a reader meets it: no dead link, nothing asked of others, old addresses answered, pages found by search."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest

from tools.website import extras, pages

SITE = pages.ROOT / "site"
FIRST = 3
"""A reader looks at so many answers of a search."""
QUESTIONS = {
    "retry only what failed": {"operators.html"},
    "why does it wait": {"operators.html"},
    "kill -9 crash resume": {"operators.html", "tutorial.html", "architecture.html"},
    "write a plugin": {"first-plugin.html"},
    "test a plugin": {"testing.html"},
    "approve a plan before it runs": {"day-2.html", "policies.html", "operators.html"},
    "keep a password out of the blueprint": {"secrets.html"},
    "scale a node": {"day-2.html"},
    "import from Heat": {"coming-from-heat.html"},
    "cfy executions": {"coming-from-cfy.html"},
    "quota": {"policies.html"},
    "what is an incarnation": {"glossary.html"},
}
"""{question of a reader: pages that answer it}."""


class Page(HTMLParser):
    """What a page of the site has: anchors, links, and files that it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag names."""
        found = {name: value or "" for name, value in attrs}
        self.anchors.update(found[key] for key in ("id", "name") if key in found and tag != "meta")
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in {"link", "script", "img", "iframe", "source"}:
            self.loads += [found[key] for key in ("href", "src") if key in found]


@cache
def page(file: Path) -> Page:
    """Read once."""
    return Page(file.read_text("utf-8"))


def site_pages() -> Iterator[Path]:
    """Every page of the site."""
    found = [file for file in sorted(SITE.rglob("*.html")) if file.name != "404.html"]
    assert found, "make site builds it"
    yield from found


def test_no_link_is_dead() -> None:
    dead = []
    for file in site_pages():
        for link in [*page(file).links, *page(file).loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            named = unquote(parts.fragment)
            if not target.exists() or (named and target.suffix == ".html" and named not in page(target).anchors):
                dead.append(f"{file.relative_to(SITE)}: {link}")
    assert not dead, "\n".join(dead)


def test_no_page_loads_anything_of_others() -> None:
    foreign = [
        f"{file.relative_to(SITE)}: {link}"
        for file in site_pages()
        for link in page(file).loads
        if urlsplit(link).netloc
    ]
    assert not foreign, "\n".join(foreign)


def test_every_address_that_ever_was_leads_somewhere() -> None:
    recorded = extras.ADDRESSES.read_text("utf-8").splitlines()
    assert recorded
    lost = [line for line in recorded if not (SITE / line.split(" -> ")[0]).exists()]
    assert not lost, "write OLD -> NEW in tools/website/addresses.txt:\n" + "\n".join(lost)


def test_a_page_can_be_read_as_markdown_and_is_listed_for_programs() -> None:
    overview = (SITE / "llms.txt").read_text("utf-8")
    listed = re.findall(r"\]\(([^)]+\.md)\)", overview)
    assert len(listed) > 50
    for place in listed:
        assert (SITE / place).read_text("utf-8").startswith("# ")
        assert (SITE / place).with_suffix(".html").exists() or place.endswith("README.md")


def test_every_public_name_has_its_place() -> None:
    import phaseline
    from phaseline import planning, testing

    for module in (phaseline, planning, testing):
        anchors = page(SITE / f"python/{module.__name__}.html").anchors
        shown = {name: getattr(module, name) for name in module.__all__ if name != "__version__"}
        homes = {name: what.__name__ for name, what in shown.items() if isinstance(what, ModuleType)}
        told = pages.MODULES_OF.get(module.__name__, {})
        assert homes.items() <= told.items()
        names = {f"{module.__name__}.{name}" for name in shown if name not in told} | told.keys()
        assert names <= anchors, names - anchors


@cache
def found(*questions: str) -> list[list[str]]:
    """For each question the addresses of the pages that the site's search finds, best first."""
    node = shutil.which("node")
    assert node, "the site's search is JavaScript: node is needed to ask it"
    script = Path(__file__).with_name("search.cjs")
    done = subprocess.run([node, script, SITE, *questions], capture_output=True, text=True, check=True)
    answers: list[list[str]] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_finds_its_page(question: str) -> None:
    answer = found(*QUESTIONS)[list(QUESTIONS).index(question)]
    assert QUESTIONS[question] & set(answer[:FIRST]), answer[:8]


def test_every_code_of_an_error_is_found_by_typing_it() -> None:
    codes = {
        code: f"errors/{file.stem}.html"
        for file in sorted((pages.ROOT / "docs/errors").glob("PL-*.md"))
        for code in re.findall(r"^## (PL-\w\d+)", file.read_text("utf-8"), re.MULTILINE)
    }
    answers = found(*codes)
    lost = [code for code, answer in zip(codes, answers, strict=True) if codes[code] not in answer[:1]]
    assert not lost
