"""Phrases that make readers guess, found in comments, docstrings, messages, help and pages.

``python -m tests.tidy.prose`` prints the figures, ``python -m tests.tidy.prose ROOM`` (or a folder or file of it) the
hits with file and line, ``python -m tests.tidy.prose --write`` writes today's figures to ``prose_bounds.txt``. After a
merge conflict in that file run ``--write``; nothing in it is merged by hand.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/phaseline"
BOUNDS = Path(__file__).with_name("prose_bounds.txt")
NOT_OURS = ("compat/cloudify/shim", "compat/cloudify/program", "use_cases/tools/starter")
"""Code that stands in for that of others, and files that users start from."""
GENERATED = ("docs/cli.md",)
"""Pages made from help texts, which count in their room."""
FRONT = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")

PATTERNS: Mapping[str, str] = {
    "who": r"who(m|ever)?",
    "nobody": r"nobody|somebody|everybody|anybody",
    "is meant": r"(is|are|was|were|be) meant",
    "stands": r"stands?(?!-alone| (in )?for\b)",
    "a word": r"a word",
    "so many at most": r"so many\b[^.]{0,80}\bat most",
    "goes on": r"(go|goes|went|gone|going) on",
    "is no more": r"(is|are|was|were) no more(?! than)",
    "at hand": r"at hand",
    "as they are": r"as (they are|it is)(?=\s*([.,:;)]|$))",
    "to begin with": r"to begin with",
    "takes up": r"(take|takes|took|taking|taken) up",
    "lets go of": r"(let|lets|letting) (go of|(it|them|him|these|those) go)",
    "tells": r"(tell|tells|told|telling)(?!( \w+){0,3} apart\b)",
    "says": r"(say|says|said|saying)",
    "hears": r"(hear|hears|heard|hearing)",
    "what there is": r"what there (is|are|was|were)",
    "laid": r"(lay|lays|laid|laying|lie|lies|lying)",
    "he": r"he|him|his",
    "of others": r"of (others|ours|theirs)",
    "all but": r"(all|any\w*|each|every\w*|none|nothing|no one) but|but for",
    "anew": r"anew",
    "in vain": r"in vain",
    "hence": r"hence|whence|thence|thereof|therein|thereby|whereupon|whereof",
    "so long": r"so long",
}
"""{name: what to look for, as whole words}: what HOUSE §6 replaces. A blank is any white space."""

BLANK = r"[\s#]+"
FINDER = re.compile(
    "|".join(
        rf"(?P<p{number}>\b(?:{each.replace(' ', BLANK)})(?!\w))" for number, each in enumerate(PATTERNS.values())
    ),
    re.IGNORECASE,
)
NAMES = tuple(PATTERNS)
NOT_PROSE = re.compile(
    r"^(?P<fence>```+|~~~+).*?^(?P=fence)"  # a block of code
    r"|^[ ]*(?:>>>|\.\.\.) [^\n]*"  # an example in a docstring
    r"|``.+?``|`[^`]+`"  # a name
    r"|\]\([^)]*\)|<!--.*?-->|https?://\S+"  # where a link leads
    r'|"[^"\n]{1,80}"',  # what a user or a document says
    re.DOTALL | re.MULTILINE,
)


class Hit(NamedTuple):
    """A phrase, and where it is."""

    path: str
    line: int
    phrase: str
    text: str


class Passage(NamedTuple):
    """Prose of a file, and its first line there."""

    line: int
    text: str


def blanked(text: str) -> str:
    """The text without code, names, addresses and quotations; lines keep their numbers."""
    return NOT_PROSE.sub(lambda found: "…" + "\n" * found[0].count("\n"), text)


def hits_in(path: str, passages: Iterator[Passage]) -> Iterator[Hit]:
    for passage in passages:
        text = blanked(passage.text)
        for found in FINDER.finditer(text):
            line = text.count("\n", 0, found.start())
            shown = text.splitlines()[line].strip()
            name = NAMES[int(str(found.lastgroup)[1:])]
            yield Hit(path, passage.line + line, name, shown)


def comments(text: str) -> Iterator[Passage]:
    """Comments, those on consecutive lines as one."""
    block: list[str] = []
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        if block and line != last + 1:
            yield Passage(last - len(block) + 1, "\n".join(block))
            block = []
        block.append(token.string)
        last = line
    if block:
        yield Passage(last - len(block) + 1, "\n".join(block))


def strings(node: ast.AST) -> Iterator[Passage]:
    """Docstrings, and other strings of more than one word; the values in an f-string are left out."""
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "…" for part in node.values]
        yield Passage(node.lineno, "".join(map(str, parts)))
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield from strings(part.value)
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"\w\W*\s\W*\w", node.value):
        yield Passage(node.lineno, node.value)
    for child in ast.iter_child_nodes(node):
        yield from strings(child)


def in_python(text: str) -> Iterator[Passage]:
    yield from comments(text)
    yield from strings(ast.parse(text))


def room_of(path: str) -> str:
    """The line of the bounds that counts a file; '' for one that is not counted."""
    parts = path.split("/")
    if path in FRONT:
        return "front"
    if path in GENERATED:
        return ""
    if parts[0] == "docs" and path.endswith(".md"):
        return "/".join(parts[:2]) if len(parts) > 2 else "docs"
    if path.startswith("src/phaseline/") and path.endswith(".py"):
        short = path.removeprefix("src/phaseline/")
        return "" if short.startswith(NOT_OURS) else short.split("/")[0]
    return ""


def files() -> Iterator[Path]:
    yield from (ROOT / name for name in FRONT)
    yield from sorted((ROOT / "docs").rglob("*.md"))
    yield from sorted(SOURCE.rglob("*.py"))


def is_wanted(path: str, wanted: str) -> bool:
    """Whether a file belongs to a room, or is below a path (from the root or from ``src/phaseline``)."""
    room = room_of(path)
    short = path.removeprefix("src/phaseline/")
    below = f"{wanted.rstrip('/')}/"
    is_below = f"{path}/".startswith(below) or f"{short}/".startswith(below)
    return bool(room) and (wanted in ("", room) or (is_below and wanted != "docs"))


def all_hits(wanted: str = "") -> Iterator[Hit]:
    """Hits of a room, of a folder or file, or of all that is counted."""
    for file in files():
        path = file.relative_to(ROOT).as_posix()
        if is_wanted(path, wanted):
            text = file.read_text("utf-8")
            yield from hits_in(path, in_python(text) if path.endswith(".py") else iter([Passage(1, text)]))


@cache
def figures() -> Mapping[str, int]:
    """{room: its hits}, rooms without any included."""
    rooms = {room_of(file.relative_to(ROOT).as_posix()) for file in files()} - {""}
    counted = Counter(room_of(hit.path) for hit in all_hits())
    return {room: counted[room] for room in sorted(rooms)}


def bounds() -> dict[str, int]:
    lines = BOUNDS.read_text("utf-8").splitlines()
    return {room: int(figure) for room, figure in (line.split(": ") for line in lines if line)}


def as_text(table: Mapping[str, int]) -> str:
    """A line a room. The empty lines let two branches change neighbouring rooms without a conflict."""
    return "\n".join(f"{room}: {figure}\n" for room, figure in table.items())


def main(arguments: list[str]) -> None:
    if arguments and arguments != ["--write"]:
        for wanted in arguments:
            for hit in all_hits(wanted):
                print(f"{hit.path}:{hit.line}: {hit.phrase}: {hit.text}")
        return
    table = figures()
    if arguments:
        BOUNDS.write_text(as_text(table), "utf-8")
    print("  ".join(f"{room} {figure}" for room, figure in table.items()), f" all {sum(table.values())}")


if __name__ == "__main__":
    main(sys.argv[1:])
