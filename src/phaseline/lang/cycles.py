"""Find cycles among things that need one another, without recursion.

Python's ``graphlib`` reports only one cycle, whose first member cannot be chosen, and would have to be imported for
every blueprint.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

_END = object()


def cycles(edges: Mapping[str, Collection[str | None]]) -> Iterator[list[str]]:
    """Yield the cycles that a depth-first walk along ``edges`` ({name: names that it needs}) meets, as lists of names.

    There is one cycle for each edge that leads back to a name on the current path. Names without edges are ignored.

    >>> list(cycles({"a": ["b"], "b": ["c", "a"], "c": ["b"]}))
    [['b', 'c'], ['a', 'b']]
    """
    done: set[str | None] = set()
    for start, ahead in edges.items():
        if done.issuperset(ahead):  # all that it needs was walked already, as for most
            done.add(start)
        if start in done:
            continue
        trail: dict[str, None] = {start: None}
        ways = [iter(ahead)]
        while ways:
            step = next(ways[-1], _END)
            if step is _END:
                ways.pop()
                done.add(trail.popitem()[0])
            elif not isinstance(step, str) or step in done or step not in edges:
                continue
            elif step in trail:
                names = list(trail)
                yield names[names.index(step) :]
            else:
                trail[step] = None
                ways.append(iter(edges[step]))


def first_cycle(edges: Mapping[str, Collection[str | None]]) -> list[str]:
    """Return the first cycle that ``cycles`` yields, or an empty list if there is no cycle.

    >>> first_cycle({"a": ["b"], "b": ["c"], "c": ["b"]})
    ['b', 'c']
    """
    return next(cycles(edges), [])


def find_path(start: int, goal: int, edges: Callable[[int], Iterable[int]]) -> list[int]:
    """Return the shortest path from ``start`` to ``goal`` along ``edges`` (number: numbers after it), both included.

    It is empty if there is no path. ``edges`` is called once for each number that can be reached.

    >>> find_path(1, 4, {1: [2, 3], 2: [], 3: [4], 4: [1]}.__getitem__)
    [1, 3, 4]
    """
    before = {start: start}
    ahead = deque([start])
    while ahead:
        here = ahead.popleft()
        if here == goal:
            path = [here]
            while path[-1] != start:
                path.append(before[path[-1]])
            return path[::-1]
        for one in edges(here):
            if one not in before:
                before[one] = here
                ahead.append(one)
    return []
