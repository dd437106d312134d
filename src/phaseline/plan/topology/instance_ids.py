"""Make ids of node instances: the node's name and six random-looking characters, never used twice (N5)."""

from __future__ import annotations

import numpy as np

LENGTH = 6
ALPHABET = np.array(list("abcdefghijklmnopqrstuvwxyz0123456789"))
SPACE = len(ALPHABET) ** LENGTH
"""Number of different suffixes."""
WEIGHTS = np.array([len(ALPHABET) ** place for place in reversed(range(LENGTH))], np.uint32)
"""Value of each of the six characters of a suffix, as with digits of a number; the first character weighs most."""
AT_ONCE = 100_000
"""Number of suffixes written at once; a million at once would take 50 MB of temporary memory."""


def suffixes(seed: int, count: int, *, taken: frozenset[str] = frozenset()) -> list[str]:
    """Return ``count`` different suffixes, none of which is ``taken``. Equal seeds give equal suffixes.

    >>> suffixes(7, 3) == suffixes(7, 3), len(set(suffixes(7, 1000)))
    (True, 1000)
    """
    found = np.empty(0, np.uint64)
    drawn = 0
    while True:
        fresh = _mixed(seed, drawn, count - len(found))
        drawn += len(fresh)
        found = _distinct(np.concatenate((found, fresh)))
        texts = _texts(found)
        if taken:
            free = np.array([text not in taken for text in texts], bool)
            found, texts = found[free], [text for text in texts if text not in taken]
        if len(found) == count:
            return texts


def _mixed(seed: int, first: int, count: int) -> np.ndarray:
    """Return random-looking numbers below ``SPACE``: splitmix64 applied to a counter."""
    mixed = np.arange(first + 1, first + count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += np.uint64(seed & 0xFFFFFFFFFFFFFFFF)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))) % np.uint64(SPACE)


def _distinct(numbers: np.ndarray) -> np.ndarray:
    """Return the numbers without repetitions, in the order of their first occurrence."""
    places = np.unique(numbers, return_index=True)[1]
    return numbers if len(places) == len(numbers) else numbers[np.sort(places)]


def _texts(numbers: np.ndarray) -> list[str]:
    """Return the numbers written in the alphabet, six characters each."""
    texts: list[str] = []
    for first in range(0, len(numbers), AT_ONCE):
        rest = numbers[first : first + AT_ONCE].astype(np.uint32)[:, None]
        digits = ALPHABET[rest // WEIGHTS % np.uint32(len(ALPHABET))]
        texts += digits.view(f"<U{LENGTH}").ravel().tolist()
    return texts
