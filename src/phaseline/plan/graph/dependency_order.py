"""The dependency order of nodes: the depth of each node, and the circles that make an order impossible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

FEW = 16
"""Largest number of vertices becoming ready together that a Python loop handles.

For so few vertices numpy is slower, for example in a chain of ten thousand nodes.
"""


def depths(targets: Sequence[Sequence[int]]) -> list[int]:
    """Return the depth of each node: 0 for a node without targets, otherwise 1 + the depth of its deepest target.

    The depth is -1 for a node that is in a circle or depends on a circle. ``targets[n]`` are the nodes on which node n
    depends.

    >>> depths([[], [0], [0, 1]])
    [0, 1, 2]
    >>> depths([[1], [0], []])
    [-1, -1, 0]
    """
    found = [-1] * len(targets)
    unmet = [len(needs) for needs in targets]
    sources: list[list[int]] = [[] for _ in targets]
    for source, needs in enumerate(targets):
        for target in needs:
            sources[target].append(source)
    ready = [node for node, count in enumerate(unmet) if not count]
    for node in ready:
        found[node] = 0
    for node in ready:  # grows while it is walked
        below = found[node] + 1
        for source in sources[node]:
            unmet[source] -= 1
            found[source] = max(found[source], below)
            if not unmet[source]:
                ready.append(source)
    return [depth if not left else -1 for depth, left in zip(found, unmet, strict=True)]


def circles(targets: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the circles among the nodes, each circle once, beginning with its smallest node number.

    ``targets[n]`` are the nodes on which node n depends. Some circles may be left out, but every node whose depth is -1
    is in one of the returned circles or depends on one of them.

    >>> circles([[1], [2], [0], [0]])
    [[0, 1, 2]]
    """
    found: list[list[int]] = []
    stuck = {node for node, depth in enumerate(depths(targets)) if depth < 0}
    walked: set[int] = set()
    for start in sorted(stuck):
        path: list[int] = []
        place: dict[int, int] = {}
        node = start
        while node not in walked and node not in place:
            place[node] = len(path)
            path.append(node)
            node = next(target for target in targets[node] if target in stuck)
        if node in place:
            circle = path[place[node] :]
            first = circle.index(min(circle))
            found.append(circle[first:] + circle[:first])
        walked.update(path)
    return found


def levels(size: int, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the depth of each of ``size`` vertices, int32.

    It is 0 for a vertex that waits for nothing, and -1 for a vertex in a circle or behind one. For each i, vertex
    ``target[i]`` waits for vertex ``source[i]``, so its depth is larger.

    >>> levels(4, np.array([0, 1, 0]), np.array([1, 2, 2])).tolist()
    [0, 1, 2, 0]
    """
    order = source.argsort(kind="stable")
    following = target[order]
    ptr = np.concatenate(([0], np.bincount(source, minlength=size).cumsum()))
    unmet = np.bincount(target, minlength=size)
    found = np.full(size, -1, np.int32)
    front = (unmet == 0).nonzero()[0]
    depth = 0
    while len(front):
        found[front] = depth
        depth += 1
        front = _few(front, ptr, following, unmet) if len(front) <= FEW else _many(front, ptr, following, unmet)
    return found


def _few(front: np.ndarray, ptr: np.ndarray, following: np.ndarray, unmet: np.ndarray) -> np.ndarray:
    """Return the vertices that become ready after ``front``: their last unmet dependency is in ``front``."""
    found = []
    for vertex in front.tolist():
        for behind in following[ptr[vertex] : ptr[vertex + 1]].tolist():
            left = unmet[behind] - 1
            unmet[behind] = left
            if not left:
                found.append(behind)
    return np.array(found, np.int64)


def _many(front: np.ndarray, ptr: np.ndarray, following: np.ndarray, unmet: np.ndarray) -> np.ndarray:
    length = ptr[front + 1] - ptr[front]
    begin = np.repeat(ptr[front] - (np.cumsum(length) - length), length)
    behind, counts = np.unique(following[begin + np.arange(len(begin))], return_counts=True)
    unmet[behind] -= counts
    found: np.ndarray = behind[unmet[behind] == 0]
    return found
