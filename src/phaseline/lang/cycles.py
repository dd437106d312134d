"""Whether things that need one another go round in a circle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def circle_of(needs: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The first circle that is found, in the order in which its members need one another; empty where there is none.

    >>> circle_of({"a": ["b"], "b": ["c"], "c": ["b"]})
    ('b', 'c')
    """
    settled: set[str] = set()
    for start in needs:
        way: list[tuple[str, Iterator[str]]] = []
        on_way: dict[str, int] = {}
        following: str | None = start
        while following is not None or way:
            if following is not None and following not in settled:
                on_way[following] = len(way)
                way.append((following, iter(needs.get(following, ()))))
            following = next(way[-1][1], None) if way else None
            if following is None and way:
                done, _ = way.pop()
                del on_way[done]
                settled.add(done)
            elif following in on_way:
                return tuple(name for name, _ in way[on_way[following] :])
    return ()
