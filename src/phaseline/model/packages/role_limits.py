"""Limits on how many instances of a deployment may have a role of a package, and the problems if they are exceeded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Place, Problem

if TYPE_CHECKING:
    from typing import TypeAlias

Count: TypeAlias = "Callable[[str], int]"
"""A function that returns how many instances have a role."""
INSTALL = "install"
SHAPING = (INSTALL, "scale", "update", "restore")
"""Workflows that change the number of instances of a deployment, so that limits of roles must be checked."""


@frozen
class RoleLimits:
    """Limits of a role of ``package`` (name and version), after evaluating conditions; None: no limit.

    ``mend`` is the package's text.
    """

    package: str
    role: str
    least: int | None = None
    most: int | None = None
    advised: int | None = None
    mend: str = ""


def beyond(limits: Iterable[RoleLimits], count: Count, before: Count | None = None) -> list[Problem]:
    """Return a problem (PL-F069) for each role that too few or too many instances have.

    Fewer than recommended is a warning. ``before`` returns the number of instances with a role before a change. If the
    number is unchanged, the problem is a warning, too, because the change has not caused it.

    >>> [one.message for one in beyond([RoleLimits("lma-1.0.0", "db", least=3)], {"db": 1}.__getitem__)]
    ["1 instance has the role 'db' of lma-1.0.0, at least 3 must"]
    """
    found: list[Problem] = []
    for one in limits:
        number = count(one.role)
        said, severity = "", "error"
        if one.least is not None and number < one.least:
            said = f"at least {one.least} must"
        elif one.most is not None and number > one.most:
            said = f"at most {one.most} may"
        elif one.advised is not None and number < one.advised:
            said, severity = f"{one.advised} are recommended", "warning"
        if said:
            is_as_before = before is not None and before(one.role) == number
            found.append(_problem(one, number, said, "warning" if is_as_before else severity))
    return found


def _problem(one: RoleLimits, number: int, said: str, severity: str) -> Problem:
    have = f"{number} instance{'s' * (number != 1)} {'has' if number == 1 else 'have'}"
    way = "in the blueprint (default_instances), or of what is installed by executions start scale"
    mend = one.mend or f"change the number of instances of the nodes with the role '{one.role}': {way}"
    place = Place("node_roles.yaml", subject=one.package)
    message = f"{have} the role '{one.role}' of {one.package}, {said}"
    return Problem("PL-F069", message, mend, place, "warning" if severity == "warning" else "error")
