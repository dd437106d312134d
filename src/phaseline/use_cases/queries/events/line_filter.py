"""A filter for lines of logs or events: by node, by operation or phase, by level or type, by text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import problem_error

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.deployment.topology import Topology
    from phaseline.views.views import Line

LEVELS = ("debug", "info", "warning", "error", "critical")
"""Levels of log lines, lowest first. A filter for a level also shows lines of all higher levels."""


@frozen
class LineFilter:
    """Conditions for log lines or events. A line must meet all of them; an empty condition is always met.

    ``phase``: name of an operation or phase, or the last part of the name. ``level``: for logs the lowest level, for
    events their type. ``text``: must occur anywhere in the line; the case of letters is ignored.
    """

    node: str = ""
    phase: str = ""
    level: str = ""
    text: str = ""

    def __bool__(self) -> bool:
        """Return whether any condition is given."""
        return bool(self.node or self.phase or self.level or self.text)


ANY = LineFilter()


class Sieve:
    """A ``LineFilter``, prepared for the lines of one deployment."""

    def __init__(self, wanted: LineFilter, topology: Topology) -> None:
        """Look up the instances of the filter's node. Raises: PL-C012 if the deployment has no such node."""
        self._wanted, self._text, self._level = wanted, wanted.text.casefold(), wanted.level.lower()
        self._ids: set[str] | None = None
        self.instances: np.ndarray | None = None
        """Bool by instance number: True if lines about the instance may be wanted; None: about every instance."""
        if wanted.node:
            number = topology.node_number.get(wanted.node)
            if number is None:
                hint = did_you_mean(wanted.node, topology.node_number) or "see: phaseline deployments show NAME"
                raise problem_error(
                    "PL-C012", f"the deployment has no node '{wanted.node}'", f"correct the name; {hint}"
                )
            self.instances = topology.node == number
            self._ids = {topology.ids[one] for one in (topology.node == number).nonzero()[0].tolist()}

    def lets_through(self, line: Line) -> bool:
        """Return whether the line meets all conditions of the filter."""
        wanted = self._wanted
        if self._ids is not None and line.instance.partition("->")[0] not in self._ids:
            return False
        if wanted.phase and line.operation != wanted.phase and not line.operation.endswith(f".{wanted.phase}"):
            return False
        return self._is_of_level(line.level.lower()) and self._text in line.text.casefold()

    def _is_of_level(self, level: str) -> bool:
        if not self._level or level == self._level:
            return True
        if self._level in LEVELS and level in LEVELS:
            return LEVELS.index(level) > LEVELS.index(self._level)
        return False
