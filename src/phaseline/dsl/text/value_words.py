"""Compose parts of messages: the name of a value's type, lists of names, suggestions for mistyped words."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

NAMED = 8
"""Largest number of allowed words that a message lists."""
SHORT, NEAR_SHORT, NEAR = 4, 0.65, 0.75
"""``SHORT`` is the largest length of a short word. A known word is suggested from the similarity (0 to 1)
``NEAR_SHORT`` on for a short word, and from ``NEAR`` on for a longer one. Both are high: words of the language resemble
one another more than names do, and each suggestion can cause a warning.
"""

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
"""{word of another language: the word of our language with the same meaning}, for suggestions between words that do not
look alike.
"""

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
    """Return the kind of a value in words.

    >>> word_for(1), word_for([])
    ('a whole number', 'a list')
    """
    return _WORDS.get(type(value), type(value).__name__)


def closest(word: str, known: Collection[str]) -> str | None:
    """Return the known word that is most similar to ``word``, or None if none is similar.

    >>> closest("text", ["string", "integer"])
    'string'
    """
    from phaseline.lang import did_you_mean  # nearly all blueprints have no mistake

    return did_you_mean.closest(word, known, SYNONYMS, near=NEAR_SHORT if len(word) <= SHORT else NEAR)


def suggest(word: str, known: Collection[str], otherwise: str) -> str:
    """Return ``did you mean 'x'?``, or the text ``otherwise`` if no known word is similar."""
    found = closest(word, known)
    return f"did you mean '{found}'?" if found else otherwise


def quoted_list(words: Iterable[str]) -> str:
    """Return the words as a list for a message, with at most ``NAMED`` of them.

    >>> quoted_list(["b", "a"])
    "'a', 'b'"
    """
    ordered = sorted(words)
    shown = ", ".join(f"'{word}'" for word in ordered[:NAMED])
    return f"{shown} and {len(ordered) - NAMED} more" if len(ordered) > NAMED else shown
