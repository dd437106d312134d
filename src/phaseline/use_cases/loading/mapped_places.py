"""Find the lines of a blueprint's files where operations are mapped.

The files are read again for this, but only if there is a problem of a mapping.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from phaseline.dsl import reader
from phaseline.dsl.documents import provenance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.dsl.imports.section_merge import MergedSections
    from phaseline.model.blueprint.blueprint import Blueprint, Node
    from phaseline.model.problems.problem import Place
    from phaseline.use_cases.loading.blueprint_loading import Opened


class MappedPlaces:
    """Finds the lines of operation mappings. The files are read again at the first lookup, each node only once."""

    def __init__(self, opened: Opened, *, open_types: bool = False) -> None:
        """Store the files of the blueprint, which are read at the first lookup.

        ``open_types`` is the option with which the blueprint was read.
        """
        self._opened = opened
        self._open_types = open_types
        self._places: dict[str, Mapping[str, Place]] = {}

    @cached_property
    def _read(self) -> tuple[Blueprint, MergedSections]:
        return reader.read_whole(self._opened.file, self._opened.files, open_types=self._open_types)

    def of(self, node: Node, path: str) -> Place:
        """Return the line where the node, or its type, maps the operation at ``path``, such as ``interfaces.I.create``.

        Return the line of the node itself if no mapping is found.
        """
        if node.name not in self._places:
            explained = provenance.explain(*self._read, node.name)
            self._places[node.name] = {piece.path: piece.origin.place for piece in explained.pieces}
        return self._places[node.name].get(f"{path}.implementation", node.place)
