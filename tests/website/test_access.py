"""What a screen reader needs of each page of the site, as far as its HTML shows it. Colours are not examined here."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from tools.website.pages import ROOT

SITE = ROOT / "site"


class Outline(HTMLParser):
    """Language, title, headings, and what has no text that could be read aloud."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.language = ""
        self.title = ""
        self.levels: list[int] = []
        self.silent: list[str] = []
        self._open: list[str] = []
        self._link = ""
        self._said = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the tag."""
        found = {name: value or "" for name, value in attrs}
        if tag == "html":
            self.language = found.get("lang", "")
        elif tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            self.levels.append(int(tag[1]))
        elif tag == "img" and "alt" not in found:
            self.silent.append(f"img {found.get('src', '')}")
        elif tag == "a":
            self._link = found.get("href", "")
            self._said = found.get("aria-label", "") or found.get("title", "")
        if tag == "img":
            self._said += found.get("alt", "")
        self._open = [*self._open[-3:], tag]

    def handle_endtag(self, tag: str) -> None:
        """A link that ends without a text is silent."""
        if tag == "a" and self._link and not self._said.strip():
            self.silent.append(f"a {self._link}")

    def handle_data(self, data: str) -> None:
        """Text of a link, or the title."""
        self._said += data
        if self._open and self._open[-1] == "title":
            self.title += data


PAGES = sorted(file for file in SITE.rglob("*.html") if file.name != "404.html")


def test_there_are_pages() -> None:
    assert PAGES, "make site builds them"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(SITE).as_posix())
def test_a_page_can_be_read_aloud(page: Path) -> None:
    outline = Outline(page.read_text("utf-8"))
    assert outline.language == "en"
    assert outline.title.strip()
    assert outline.levels.count(1) == 1
    assert outline.levels[0] == 1
    assert all(below <= above + 1 for above, below in zip(outline.levels, outline.levels[1:], strict=False))
    assert not outline.silent


@pytest.mark.parametrize("text", ["<img src=a.png>", "<a href=b></a>", "<a href=b> </a>"])
def test_what_has_no_text_is_found(text: str) -> None:
    assert Outline(text).silent
