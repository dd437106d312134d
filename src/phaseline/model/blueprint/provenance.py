"""A node of a blueprint with the origin of each part: file, line and column, and the values it overrides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.problems.problem import Place


@frozen
class ValueOrigin:
    """The source of a value: ``what`` in words, ``name`` of the type or template, and where it is written."""

    what: str
    name: str
    place: Place


@frozen
class Piece:
    """One part of a node with its effective value. ``over``: origins of overridden values, strongest first."""

    path: str
    value: Value
    origin: ValueOrigin
    over: Sequence[ValueOrigin] = ()


@frozen
class Explained:
    """A node: its types (nearest first), its parts, and the import lines of the files that contain them."""

    node: str
    type: str
    place: Place
    types: Sequence[ValueOrigin]
    pieces: Sequence[Piece]
    imports: Mapping[str, Place]
