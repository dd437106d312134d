"""Find which values occur in an array, with methods that are fast for columns of positions and small numbers.

``numpy.unique`` uses hashes and imports another package at its first call; positions can be sorted quickly, and
small numbers can be counted.
"""

from __future__ import annotations

import numpy as np

FEW_VALUES = 16
"""Largest length of an array that is read as a Python list, because each numpy call costs about a microsecond."""


def unique(values: np.ndarray) -> np.ndarray:
    """Return an array with each different value of ``values`` once, ascending."""
    if len(values) < 2:
        return values
    ordered = np.sort(values)
    first = np.empty(len(ordered), bool)
    first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def as_slice(positions: np.ndarray) -> slice | np.ndarray:
    """Return positions as a slice if they are consecutive, so that columns are read without a copy.

    Up to ``FEW_VALUES`` positions are returned unchanged, because reading them is just as fast without a slice.

    >>> as_slice(np.arange(4, 44)), as_slice(np.array([4, 5]))
    (slice(4, 44, None), array([4, 5]))
    """
    count = len(positions)
    if count <= FEW_VALUES:
        return positions
    first = int(positions[0])
    if int(positions[-1]) - first != count - 1 or not every(positions[1:] > positions[:-1]):
        return positions
    return slice(first, first + count)


def present(numbers: np.ndarray) -> list[int]:
    """Return each different number in ``numbers`` once, ascending; the numbers must be small and not negative."""
    if not len(numbers):
        return []
    first = int(numbers[0])
    if len(numbers) == 1 or every(numbers == first):
        return [first]
    return np.bincount(numbers).nonzero()[0].tolist()


def some(mask: np.ndarray) -> bool:
    """Return True if at least one element of a bool array is True."""
    return True in mask.tolist() if len(mask) <= FEW_VALUES else bool(mask.any())


def every(mask: np.ndarray) -> bool:
    """Return True if all elements of a bool array are True, or if it is empty."""
    return False not in mask.tolist() if len(mask) <= FEW_VALUES else bool(mask.all())
