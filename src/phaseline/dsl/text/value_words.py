"""Words of messages: the name of a value's type, lists of names, suggestions for mistyped words."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

NAMED = 8
"""How many allowed words a sentence lists."""
SHORT, NEAR_SHORT, NEAR = 4, 0.65, 0.75
"""Letters of a short word, and how alike two words have to be: the words of the language resemble one another more than names
do, and what is nearly one of them is warned of."""

SYNONYMS = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "long": "integer",
    "number": "float",
    "double": "float",
    "bool": "boolean",
    "map": "dict",
    "object": "dict",
    "mapping": "dict",
    "array": "list",
    "sequence": "list",
}
"""Words of other languages for what the language has, however little they resemble it."""

_WORDS: Final[dict[type, str]] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "nothing",
    dict: "a mapping",
    list: "a list",
}


def word_for(value: object) -> str:
    """What a value is, in words.

    >>> word_for(1), word_for([])
    ('a whole number', 'a list')
    """
    return _WORDS.get(type(value), type(value).__name__)


def closest(word: str, known: Collection[str]) -> str | None:
    """The known word nearest to ``word``, or None when none is near.

    >>> closest("text", ["string", "integer"])
    'string'
    """
    from phaseline.lang import did_you_mean  # nearly all blueprints have no mistake

    return did_you_mean.closest(word, known, SYNONYMS, near=NEAR_SHORT if len(word) <= SHORT else NEAR)


def suggest(word: str, known: Collection[str], otherwise: str) -> str:
    """``did you mean 'x'?`` or, when nothing is near, the text ``otherwise``."""
    found = closest(word, known)
    return f"did you mean '{found}'?" if found else otherwise


def quoted_list(words: Iterable[str]) -> str:
    """The words as a sentence lists them, at most ``NAMED`` of them.

    >>> quoted_list(["b", "a"])
    "'a', 'b'"
    """
    ordered = sorted(words)
    shown = ", ".join(f"'{word}'" for word in ordered[:NAMED])
    return f"{shown} and {len(ordered) - NAMED} more" if len(ordered) > NAMED else shown
