"""The documentation pages of this installation: read, listed and searched without a network."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from phaseline.lang.fast_dataclasses import frozen

KINDS = {"Tutorial": 2.0, "Guide": 2.0, "Concept": 1.2, "Reference": 1.0}
"""{kind of a page: factor for the score of its sections in a search}"""
OTHER = 0.5
"""Factor for the score of pages without a kind: decisions and indexes."""
TITLE = 6.0
"""Number of words in the text below a heading that count as much as one word in the heading."""
HALF = 3.0
"""Number of hits with which a section gets half of the score that hits can add."""
SMALL_WORDS = frozenset(
    (
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "before",
        "but",
        "by",
        "can",
        "do",
        "does",
        "for",
        "from",
        "how",
        "i",
        "if",
        "in",
        "is",
        "it",
        "my",
        "not",
        "of",
        "on",
        "only",
        "or",
        "out",
        "so",
        "that",
        "the",
        "then",
        "this",
        "to",
        "was",
        "what",
        "when",
        "where",
        "which",
        "why",
        "will",
        "with",
    )
)
_HEAD = re.compile(r"^(#{1,2}) (.+)$", re.MULTILINE)
_KIND = re.compile(
    r"\A# [^\n]+\n\n\*\*(Tutorial|Guide|Concept|Reference)\*\* for .+?\.\s+You\s+will\s+have:\s+(.+?)\.\n\n", re.DOTALL
)
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_WORD = re.compile(r"\w+(?:[.-]\w+)*")
CODE = re.compile(r"PL-[A-Z]\d{3}", re.IGNORECASE)


@frozen
class ManualPage:
    """A page of the documentation.

    It has its name, title, kind, what a reader can do after reading it, and its text in Markdown.
    """

    name: str
    title: str
    kind: str
    result: str
    text: str


@frozen
class ManualHit:
    """A section that a search found."""

    page: str
    title: str
    score: float


def manual_folder() -> Path:
    """Return the folder with the pages: in the installed package, or at the top of a clone."""
    here = Path(__file__).resolve()
    packed = here.parents[1] / "manual"
    return packed if packed.is_dir() else here.parents[3] / "docs"


def read_manual(folder: Path | None = None) -> tuple[ManualPage, ...]:
    """Return all pages, sorted by name."""
    base = folder or manual_folder()
    return tuple(_page(file.relative_to(base), file.read_text("utf-8")) for file in sorted(base.rglob("*.md")))


def _page(place: Path, text: str) -> ManualPage:
    head = _HEAD.search(text)
    said = _KIND.match(text)
    kind, result = (said[1], " ".join(said[2].split())) if said else ("", "")
    return ManualPage(place.with_suffix("").as_posix(), head[2] if head else place.stem, kind, result, text)


def section_of(pages: Iterable[ManualPage], code: str) -> str | None:
    """Return the section about an error code, or None."""
    for page in pages:
        if page.name.startswith("errors/"):
            for title, body in _sections(page.text):
                if title.upper().startswith(code.upper()):
                    return f"## {title}{body}".strip()
    return None


def search_manual(pages: Sequence[ManualPage], question: str) -> tuple[ManualHit, ...]:
    """Return the best section of each page that has words of the question, best first.

    A question's word "start" also matches "started". Rare words count more than frequent ones. A section with more of
    the question's words comes before a section with fewer.
    """
    wanted = [word for word in _words(question) if word not in SMALL_WORDS] or _words(question)
    found: list[tuple[ManualPage, str, list[float]]] = []
    for page in pages:
        for title, body in _sections(page.text):
            counts = _counts(wanted, f"{page.title} {title}", body)
            if any(counts):
                found.append((page, title, counts))
    total = len(found) + 1
    rarity = [math.log(total / (1 + sum(1 for *_, counts in found if counts[at]))) + 0.1 for at in range(len(wanted))]
    best: dict[str, ManualHit] = {}
    for page, title, counts in found:
        matched = sum(1 for count in counts if count)
        score = sum(weight * count / (count + HALF) for weight, count in zip(rarity, counts, strict=True))
        score *= KINDS.get(page.kind, OTHER) * (matched / len(wanted)) ** 2
        if page.name not in best or best[page.name].score < score:
            best[page.name] = ManualHit(page.name, title, round(score, 4))
    return tuple(sorted(best.values(), key=lambda hit: (-hit.score, hit.page)))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _counts(wanted: Sequence[str], title: str, body: str) -> list[float]:
    """Return, for each wanted word, how many words of the section begin with it; words in the heading count more."""
    heading, text = f" {' '.join(_words(title))}", f" {' '.join(_words(body))}"
    return [TITLE * heading.count(f" {word}") + text.count(f" {word}") for word in wanted]


def _sections(text: str) -> list[tuple[str, str]]:
    """Return (heading, text below it) for each section of a page. Lines in blocks of code are not headings."""
    hidden = _FENCE.sub(lambda block: "\0" * len(block[0]), text)
    heads = list(_HEAD.finditer(hidden))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [(head[2], text[head.end() : end]) for head, end in zip(heads, ends, strict=True)]
