"""A node of a blueprint with the origin of each of its parts: which file, line and column gave it, and over whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.problems.problem import Place


@frozen
class Origin:
    """Who gives something: ``what`` in words, ``name`` of the type or template, and where it is written."""

    what: str
    name: str
    place: Place


@frozen
class Piece:
    """One part of a node with the value that counts. ``over``: what else was given for it, strongest first."""

    path: str
    value: Value
    origin: Origin
    over: Sequence[Origin] = ()


@frozen
class Explained:
    """A node: its types (nearest first), its parts, and the lines by which the files were imported that they stand in."""

    node: str
    type: str
    place: Place
    types: Sequence[Origin]
    pieces: Sequence[Piece]
    imports: Mapping[str, Place]
