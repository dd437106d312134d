"""What a mistyped word was probably meant to be."""

from __future__ import annotations

from collections.abc import Collection, Iterable

NAMED = 8
"""How many allowed words a sentence lists."""


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


def closest(word: str, known: Collection[str]) -> str | None:
    """The known word nearest to ``word``, or None when none is near.

    >>> closest("implementatiom", ["implementation", "inputs"])
    'implementation'
    """
    if SYNONYMS.get(word.lower()) in known:
        return SYNONYMS[word.lower()]
    import difflib

    candidates = [candidate for candidate in known if candidate != word]
    lowered = word.lower()
    for candidate in candidates:
        if candidate.lower() == lowered:
            return candidate
    tails: dict[str, str] = {}
    for candidate in candidates:
        tails.setdefault(candidate.rpartition(".")[2].lower(), candidate)
    near = difflib.get_close_matches(
        word, candidates, 1, 0.65 if len(word) <= 4 else 0.75
    ) or difflib.get_close_matches(lowered, list(tails), 1, 0.8)
    return tails.get(near[0], near[0]) if near else None


def suggest(word: str, known: Collection[str], otherwise: str) -> str:
    """``Did you mean 'x'?`` or, when nothing is near, the sentence ``otherwise``."""
    found = closest(word, known)
    return f"Did you mean '{found}'?" if found else otherwise


def quoted_list(words: Iterable[str]) -> str:
    """The words as a sentence lists them, at most ``NAMED`` of them.

    >>> quoted_list(["b", "a"])
    "'a', 'b'"
    """
    ordered = sorted(words)
    shown = ", ".join(f"'{word}'" for word in ordered[:NAMED])
    return f"{shown} and {len(ordered) - NAMED} more" if len(ordered) > NAMED else shown
