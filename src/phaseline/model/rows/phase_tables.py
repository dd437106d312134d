"""Small tables that lists of phases and resources need, read by one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from phaseline.model.packages.installed import PackageRow
    from phaseline.model.rows.rows import Metric, PausedRow


@frozen
class PhaseTables:
    """What a store has of phases, whatever their number of resources.

    ``known`` is {phase in lower case: its definition as JSON}, of the phases that the last engine knew; ``paused`` and
    ``measures`` as the methods of the store return them. ``packages`` are those installed. ``data_keys`` are the
    purposes of the data keys.
    """

    known: Mapping[str, str] = field(default_factory=dict)
    paused: Mapping[str, PausedRow] = field(default_factory=dict)
    measures: Mapping[str, Metric] = field(default_factory=dict)
    packages: Sequence[PackageRow] = ()
    data_keys: frozenset[str] = frozenset()
