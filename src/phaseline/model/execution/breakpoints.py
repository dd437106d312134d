"""Breakpoints: points at which instances of some nodes stop, in any workflow, until a user clears them (H46).

A breakpoint is an ordinary entry of the graph, before or after the operation or phase that it names. Its call ends with
"again" each time, so the instance and its dependents wait. Clearing a breakpoint marks its entry as completed.

Example: a user gives ``--break pre-Acme.Create=node-*`` with the request that sends resources to a target, or as a
label of the cluster. When the graph of the state is planned, ``plan.states.phase_breakpoints`` puts an entry before the
phase, for the same resources. The entry sleeps until ``breakpoints clear`` completes it; then the phase is called.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.blueprint import Operation
from phaseline.model.graph.graph import phase_of

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

PREFIX = "breakpoint "
"""Prefix of the phase name of a breakpoint's entries; the breakpoint's point follows."""
RUNNER = "phaseline.tasks.breakpoint_call"
"""Module of the function that a breakpoint's entries call."""
UNTIL = "until"
"""Key in a breakpoint entry's data for the time (s) at which the entry fails; the key is absent if it has no time-out."""
PRE, POST = "pre", "post"
LABEL = "csys-breakpoint"
"""Key of deployment labels whose values are breakpoints for all executions of the deployment."""
BUILT_IN = "cloudify.interfaces."
LIFE_CYCLE = BUILT_IN + "lifecycle."
OF_LIFE_CYCLE = ("create", "update", "start", "stop", "delete")
"""Operations with a last name part that also occurs in other built-in interfaces; their breakpoints are shown with a longer name."""
WRITTEN = re.compile(r"(?:(pre|post)-)?([^\s=@]+)(?:=([^@]*))?(?:@([^@]*))?")
"""The notation of a breakpoint: ``pre`` or ``post``, operation or phase, nodes, and the time after which it fails."""


@frozen
class Breakpoint:
    """A breakpoint: instances of nodes whose names match ``nodes`` (``*``: any text) stop at ``point``, such as ``pre-create``.

    The point names an operation in full or by its last parts, or a phase in full. For resources, ``nodes`` is compared
    with the names of resources. ``timeout_s`` is the time after which a breakpoint that is not cleared fails; None:
    never.
    """

    point: str
    nodes: str = "*"
    timeout_s: float | None = None

    @property
    def phase(self) -> str:
        """Name of the phase of the breakpoint's entries."""
        return PREFIX + self.point

    @property
    def stands(self) -> tuple[str, str]:
        """(``pre`` or ``post``, the operation or phase that the point names)."""
        side, _, named = self.point.partition("-")
        return side, named

    def is_beside(self, when: str, phase: str) -> bool:
        """Return True if this breakpoint is before (``when`` is ``pre``) or after (``post``) a phase of a state; case is ignored.

        >>> Breakpoint("post-acme.create").is_beside("post", "Acme.Create"), Breakpoint("pre-create").is_beside("pre", "Acme.Create")
        (True, False)
        """
        side, named = self.stands
        return side == when and named.lower() == phase.lower()

    def is_at(self, when: str, operation: str) -> bool:
        """Return True if it is placed before (``pre``) or after (``post``) an operation; ``create`` is the life-cycle one.

        >>> Breakpoint("pre-create").is_at("pre", "cloudify.interfaces.lifecycle.create")
        True
        >>> Breakpoint("pre-create").is_at("pre", "cloudify.interfaces.validation.create")
        False
        """
        side, named = self.stands
        if side != when or not f".{operation}".endswith(f".{named}"):
            return False
        return named not in OF_LIFE_CYCLE or operation.startswith(LIFE_CYCLE) or not operation.startswith(BUILT_IN)

    def concerns(self, node: str) -> bool:
        """Return True if the breakpoint stops instances of a node.

        >>> Breakpoint("pre-create", "app_*").concerns("app_1"), Breakpoint("pre-create", "app").concerns("app_1")
        (True, False)
        """
        return fits(self.nodes, node)

    def covers(self, point: str) -> bool:
        """Return True if the point of this breakpoint, in which ``*`` matches any text, matches ``point``; case is ignored.

        >>> [Breakpoint(word).covers("post-Acme.Create") for word in ("post-acme.create", "post-*", "*", "pre-*")]
        [True, True, True, False]
        """
        return fits(self.point.lower(), point.lower())

    def __str__(self) -> str:
        """Return the breakpoint as users write it."""
        wait = "" if self.timeout_s is None else f"@{self.timeout_s:f}".rstrip("0").rstrip(".") + "s"
        return f"{self.point}={self.nodes}{wait}"


def fits(pattern: str, name: str) -> bool:
    """Return True if a name matches a pattern, in which ``*`` matches any text.

    >>> fits("app_*", "app_1"), fits("app", "app_1")
    (True, False)
    """
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None


def read_points(text: str) -> Breakpoint:
    """Return the pattern that a text describes, for selecting breakpoints; any part of the point may be ``*``.

    Raises: ``ValueError`` for a text that is no pattern.

    >>> str(read_points("*")), str(read_points("create=web")), str(read_points("post-*"))
    ('*=*', 'pre-create=web', 'post-*=*')
    """
    point, _, _ = text.partition("=")
    found = read_breakpoint(text)
    return Breakpoint(point, found.nodes) if point.startswith("*") else found


def read_breakpoint(text: str, timeout_s: float | None = None) -> Breakpoint:
    """Read a breakpoint such as ``pre-create=app_*``; ``pre-`` may be omitted. Raises: ``ValueError`` for anything else.

    Without names it applies to all instances. ``timeout_s`` is the time-out if the text has none;
    ``pre-create=app_*@10m`` has one.

    >>> str(read_breakpoint("post-start")), str(read_breakpoint("Acme.Create=node-*@20d"))
    ('post-start=*', 'pre-Acme.Create=node-*@1728000s')
    """
    found = WRITTEN.fullmatch(text.strip())
    if found is None or found[2] in {f"{PRE}-", f"{POST}-"}:
        raise ValueError(f"'{text}' is no breakpoint: write pre-create=NODE, post-start=app_* or pre-PHASE=NAME")
    side, named, nodes, wait = found.groups()
    if wait is not None:
        from phaseline.lang.durations import read_span

        try:
            timeout_s = read_span(wait)
        except ValueError as error:
            raise ValueError(f"the time-out after '@' in '{text}' is invalid: {error}") from None
    return Breakpoint(f"{side or PRE}-{named}", (nodes or "").strip() or "*", timeout_s)


def stop_beside(step: str) -> tuple[str, str] | None:
    """Return (pre or post, operation or phase) for the name of a breakpoint's step; None for other steps.

    >>> stop_beside("breakpoint pre-Acme.Create"), stop_beside("phase:Acme.Create")
    (('pre', 'Acme.Create'), None)
    """
    return Breakpoint(step.removeprefix(PREFIX)).stands if step.startswith(PREFIX) else None


def step_label(step: str) -> str | None:
    """Return the name that users see for a step of a state: its phase, or the whole name of a breakpoint; None for other steps.

    >>> step_label("breakpoint pre-Acme.Create"), step_label("phase:Acme.Create"), step_label("exit:Allocation")
    ('breakpoint pre-Acme.Create', 'Acme.Create', None)
    """
    return step if step.startswith(PREFIX) else phase_of(step)


def clearing(point: str, deployment: str = "", instance: str = "") -> str:
    """Return the command that clears a breakpoint for all instances stopped there, or for one of them.

    >>> clearing("pre-create", "shop"), clearing("pre-create", instance="web_1")
    ('phaseline breakpoints clear pre-create -d shop', 'phaseline breakpoints clear pre-create web_1')
    """
    from shlex import quote  # needed only for messages

    words = ("phaseline breakpoints clear", quote(point), quote(instance) if instance else "")
    return " ".join(filter(None, (*words, f"-d {quote(deployment)}" if deployment else "")))


def due_of(step: str, due: int, result: Value) -> int:
    """Return the time (ms) of the next call of a sleeping entry, or 0 for one at a breakpoint without a time-out.

    ``due`` and ``result`` come from the note of the entry.

    >>> late = {"until": 5.0}
    >>> due_of("breakpoint pre-create", 5000, None), due_of("breakpoint pre-create", 5000, late), due_of("create", 5000, late)
    (0, 5000, 5000)
    """
    is_bounded = not step.startswith(PREFIX) or (isinstance(result, Mapping) and UNTIL in result)
    return due if is_bounded else 0


def pausing(phase: str, breakpoints: Sequence[Breakpoint]) -> Operation:
    """Return the operation that the entries of a breakpoint call."""
    waits = [one.timeout_s for one in breakpoints if one.phase == phase and one.timeout_s is not None]
    inputs = {"point": phase.removeprefix(PREFIX), "timeout_s": min(waits, default=0)}
    return Operation(phase, "function", implementation=f"{RUNNER}.pause", inputs=inputs)
