"""The dependency order of nodes: how deep each one lies, and which circles make an order impossible."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def depths(targets: Sequence[Sequence[int]]) -> list[int]:
    """How deep each node lies: 0 without targets, else one more than its deepest target; -1 in or behind a circle.

    ``targets[n]`` are the nodes that node n has relationships to.

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
    """Circles among the nodes, each once, beginning with its first node; every node without a depth is in or behind one.

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
