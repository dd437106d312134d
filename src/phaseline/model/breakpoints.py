"""Breakpoints: where instances of some nodes stop, in any workflow, until a person lets them go on (H46).

One is an entry of the graph like any other, before or after the operation that it names: its call sleeps, so the instance waits
and those that depend on it with it. Whoever clears it vouches for the entry, as for any that is completed by hand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from phaseline.model.blueprint import Operation
from phaseline.model.frozen import frozen

PREFIX = "breakpoint "
"""What the phase of such an entry begins with; its point follows."""
RUNNER = "phaseline.tasks.pausing"
"""Where the function lies that its entries call."""
PRE, POST = "pre", "post"
LABEL = "csys-breakpoint"
"""Key of the labels of a deployment that are breakpoints of all its executions."""
BUILT_IN = "cloudify.interfaces."
LIFE_CYCLE = BUILT_IN + "lifecycle."
OF_LIFE_CYCLE = ("create", "start", "stop", "delete")
"""Operations of which other built-in interfaces have one of the same last part; these are named by more of theirs."""


@frozen
class Breakpoint:
    """Instances of nodes whose names fit ``nodes`` (``*``: anything) stop at ``point``, such as ``pre-create``.

    The point names an operation in full or by its last parts. ``timeout_s``: nobody has cleared it so long: it fails; None: it waits.
    """

    point: str
    nodes: str = "*"
    timeout_s: float | None = None

    @property
    def phase(self) -> str:
        """That of its entries."""
        return PREFIX + self.point

    def is_at(self, when: str, operation: str) -> bool:
        """Whether it stands before (``pre``) or after (``post``) an operation; ``create`` is that of the life cycle.

        >>> Breakpoint("pre-create").is_at("pre", "cloudify.interfaces.lifecycle.create")
        True
        >>> Breakpoint("pre-create").is_at("pre", "cloudify.interfaces.validation.create")
        False
        """
        side, _, named = self.point.partition("-")
        if side != when or not f".{operation}".endswith(f".{named}"):
            return False
        return named not in OF_LIFE_CYCLE or operation.startswith(LIFE_CYCLE) or not operation.startswith(BUILT_IN)

    def concerns(self, node: str) -> bool:
        """Whether it stops instances of a node.

        >>> Breakpoint("pre-create", "app_*").concerns("app_1"), Breakpoint("pre-create", "app").concerns("app_1")
        (True, False)
        """
        return re.fullmatch(".*".join(map(re.escape, self.nodes.split("*"))), node) is not None

    def __str__(self) -> str:
        """As users write it."""
        return f"{self.point}={self.nodes}"


def read_breakpoint(text: str, timeout_s: float | None = None) -> Breakpoint:
    """A breakpoint from ``pre-create=app_*``. Raises: ``ValueError`` for anything else.

    >>> str(read_breakpoint("post-start"))
    'post-start=*'
    """
    point, _, nodes = text.partition("=")
    point, nodes = point.strip(), nodes.strip() or "*"
    if not re.fullmatch(r"(pre|post)-[^\s=]+", point):
        raise ValueError(f"'{text}' is no breakpoint: write pre-create=NODE or post-start=app_*")
    return Breakpoint(point, nodes, timeout_s)


def pausing(phase: str, breakpoints: Sequence[Breakpoint]) -> Operation:
    """What the entries of a breakpoint call."""
    waits = [one.timeout_s for one in breakpoints if one.phase == phase and one.timeout_s is not None]
    inputs = {"point": phase.removeprefix(PREFIX), "timeout_s": min(waits, default=0)}
    return Operation(phase, "function", implementation=f"{RUNNER}.pause", inputs=inputs)
