"""A node of a blueprint with the origin of each of its parts: file, line and column, and the values that it overrides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.problems.problem import Place


@frozen
class ValueOrigin:
    """The origin of a value: what it comes from (``what``), the ``name`` of that type or template, and where it is written."""

    what: str
    name: str
    place: Place


@frozen
class Piece:
    """One part of a node with its effective value. ``over`` has the origins of overridden values, strongest first."""

    path: str
    value: Value
    origin: ValueOrigin
    over: Sequence[ValueOrigin] = ()


@frozen
class Explained:
    """The origins of a node: its types (nearest first), its parts, and the lines that import the files with these parts."""

    node: str
    type: str
    place: Place
    types: Sequence[ValueOrigin]
    pieces: Sequence[Piece]
    imports: Mapping[str, Place]
