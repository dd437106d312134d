"""Find the known word that a mistyped one resembles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

NEAR = 0.6
"""Similarity (0 to 1) from which a known name is suggested for a misspelled one."""
NEAR_TAIL = 0.8
"""Similarity (0 to 1) from which a dotted name is suggested if only its last part resembles the misspelled word."""
_NONE: Mapping[str, str] = MappingProxyType({})


def closest(word: str, known: Iterable[str], synonyms: Mapping[str, str] = _NONE, *, near: float = NEAR) -> str | None:
    """Return the known word most similar to ``word``, whatever the case of its letters, or None if none is similar.

    ``synonyms`` is {word: known word that it means}, for words that do not resemble it. ``near`` is the smallest
    similarity (0 to 1).

    >>> closest("implementatiom", ["implementation", "inputs"])
    'implementation'
    >>> closest("webserver", ["nodes.WebServer"]), closest("map", ["dict"], {"map": "dict"}), closest("xyz", ["web"])
    ('nodes.WebServer', 'dict', None)
    """
    lowered = word.lower()
    spelled: dict[str, str] = {}
    for name in known:
        if name != word:
            spelled.setdefault(name.lower(), name)
    meant = synonyms.get(lowered, lowered)
    if meant in spelled:
        return spelled[meant]
    from difflib import get_close_matches

    found = get_close_matches(lowered, spelled, 1, near)
    if found:
        return spelled[found[0]]
    tails: dict[str, str] = {}
    for small, name in spelled.items():
        tails.setdefault(small.rpartition(".")[2], name)
    found = get_close_matches(lowered, tails, 1, max(near, NEAR_TAIL))
    return tails[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean 'name'?``, or an empty text if no known word is similar.

    >>> did_you_mean("stor.url", ["store.url", "plugins.path"])
    "did you mean 'store.url'?"
    >>> did_you_mean("zebra", ["store.url"])
    ''
    """
    found = closest(word, known)
    return f"did you mean '{found}'?" if found else ""


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return the text of ``did_you_mean`` with a space after it, to be followed by other sentences.

    Return an empty text if no known word is similar.

    >>> suggestion("strcta", ("strcat", "size"))
    "did you mean 'strcat'? "
    """
    found = closest(word, known)
    return f"did you mean '{found}'? " if found else ""
