r"""Recordings of a terminal as asciicast files, version 2: a header, then events with times, one JSON value a line.

The times are not those of the recording. They follow from the text, so that the same text always gives the same file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

COLUMNS, ROWS = 104, 40
LETTER_S, LINE_S, ACT_S = 0.03, 0.1, 2.0
"""The time for a typed letter, a line of output, and the pause after an act."""
STYLES = re.compile(r"\x1b\[([\d;]*)m")
PRIVATE = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "…"),
    (re.compile(r"(?<=started by )[^,]+"), "…"),
)
"""What is not recorded: clock times, and the name of the user."""
PROGRESS = re.compile(r"(?<= runs\n)(?:    .*\n|  … .*\n)+")
"""Lines that a command prints as time passes: there may be more or fewer of them."""
VARYING = (
    (re.compile(r" ?─+$"), ""),
    (re.compile(r"(?<=_)[a-z0-9]{6}\b"), "#"),
    (re.compile(r"\d[\d,.]*(?<=\d)"), "#"),
    (re.compile(r"# (ms|s|min)\b(?: # s\b)?"), "# s"),
)
"""What differs between two runs in which the program says the same: figures, times, names of instances, the width."""


def as_cast(title: str, acts: Mapping[str, str]) -> str:
    r"""The file of {name of an act: its text with styles}; each act begins with a marker.

    >>> print(as_cast("demo", {"one": "$ ls\na\n"}), end="")
    {"version": 2, "width": 104, "height": 40, "title": "demo"}
    [0.0, "m", "one"]
    [0.12, "o", "$ ls\r\n"]
    [0.22, "o", "a\r\n"]
    """
    lines = [json.dumps({"version": 2, "width": COLUMNS, "height": ROWS, "title": title})]
    now = 0.0
    for name, text in acts.items():
        lines.append(json.dumps([round(now, 2), "m", name], ensure_ascii=False))
        for line in without_private(text).splitlines():
            now += LETTER_S * len(plain(line)) if plain(line).startswith("$ ") else LINE_S
            lines.append(json.dumps([round(now, 2), "o", f"{line}\r\n"], ensure_ascii=False))
        now += ACT_S
    return "\n".join([*lines, ""])


def acts_of(cast: str) -> dict[str, list[str]]:
    r"""{name of an act: its lines with styles}.

    >>> acts_of(as_cast("demo", {"one": "$ ls\na\n", "two": "b\n"}))
    {'one': ['$ ls', 'a'], 'two': ['b']}
    """
    acts: dict[str, list[str]] = {}
    for _, kind, text in map(json.loads, cast.splitlines()[1:]):
        if kind == "m":
            acts[text] = []
        else:
            acts[next(reversed(acts))].append(text.removesuffix("\r\n"))
    return acts


def without_private(text: str) -> str:
    """The text without what is not recorded.

    >>> without_private("started by ada, 2026-11-23 21:21:37")
    'started by …, …'
    """
    for pattern, instead in PRIVATE:
        text = pattern.sub(instead, text)
    return text


def plain(line: str) -> str:
    r"""The line without styles.

    >>> plain("\x1b[1;36mone\x1b[0m two")
    'one two'
    """
    return STYLES.sub("", line)


def words(lines: Iterable[str]) -> list[str]:
    """What is the same in each run of a program that says the same: no figures, no progress, no empty lines.

    >>> words(["  install-1 runs", "    create: 51 of 51 done", "  completed in 950 ms, 6 calls", " "])
    ['  install-# runs', '  completed in # s, # calls']
    """
    text = PROGRESS.sub("", "".join(f"{without_private(plain(line))}\n" for line in lines))
    kept = [line.rstrip() for line in text.splitlines() if line.strip()]
    for pattern, instead in VARYING:
        kept = [pattern.sub(instead, line) for line in kept]
    return kept
