"""Checks whether a package suits a deployment: its releases match the labels, and its roles have enough instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from phaseline.model.packages.role_limits import Count, RoleLimits, beyond
from phaseline.model.problems.problem import Place, Problem
from phaseline.packages.format.condition_language import holds, value_of
from phaseline.packages.languages.slow_languages import ConditionError

if TYPE_CHECKING:
    from phaseline.model.packages.package import InstanceLimits, Package, Release

OS, MODE, RELEASE = "os", "mode", "release"
LABELS: Final = (OS, MODE, RELEASE)
"""Labels of a deployment for its operating system, mode and release; a label that is not set matches everything."""

Models = Mapping[str, Any]


def unfit(package: Package, labels: Mapping[str, Sequence[str]]) -> list[Problem]:
    """Return a problem (PL-F066) if no release of the package supports the system in the labels of a deployment."""
    said = {name: labels[name] for name in LABELS if labels.get(name)}
    if not said or not package.releases or any(_is_for(release, said) for release in package.releases):
        return []
    told = ", ".join(f"{name}={value}" for name, values in said.items() for value in values)
    there = "; ".join(f"{each.os} {each.version} ({', '.join(each.mode)})" for each in package.releases)
    message = f"{package} does not support this deployment, whose labels are {told}; it supports {there}"
    mend = "enable a package that supports it, or correct the labels: phaseline deployments labels NAME --add os=ubuntu"
    return [Problem("PL-F066", message, mend, Place(subject=str(package)))]


def _is_for(release: Release, said: Mapping[str, Sequence[str]]) -> bool:
    fits: Mapping[str, Callable[[str], bool]] = {
        OS: lambda value: value == release.os,
        MODE: lambda value: value in release.mode,
        RELEASE: lambda value: is_version_of(value, release.version),
    }
    return all(any(fits[name](value) for value in values) for name, values in said.items())


def is_version_of(version: str, release: str) -> bool:
    """Return whether a version belongs to a release of a package: each part between dashes begins with the release's part.

    >>> is_version_of("2015.1.0-8.0", "2015.1-8"), is_version_of("2015.1.0-8.0", "2014.2-8.0")
    (True, False)
    """
    wanted, found = release.split("-"), version.split("-")
    return len(wanted) <= len(found) and all(whole.startswith(part) for part, whole in zip(wanted, found, strict=False))


def limits_of(package: Package, models: Models) -> tuple[list[RoleLimits], list[Problem]]:
    """Return the limits of the package's roles that are in force, and a problem (PL-F069) for each limit that cannot be
    evaluated.
    """
    found: list[RoleLimits] = []
    problems: list[Problem] = []
    for role in package.node_roles:
        try:
            if role.limits.condition and not holds(role.limits.condition, models):
                continue
            least, most, advised, said = _in_force(role.limits, models)
        except ConditionError as error:
            message = f"{package}: limits of the role '{role.id}' cannot be evaluated: {error.reason}"
            problems.append(Problem("PL-F069", message, error.mend, Place("node_roles.yaml", subject=str(package))))
        else:
            if (least, most, advised) != (None, None, None):
                found.append(RoleLimits(str(package), role.id, least, most, advised, said))
    return found, problems


def beyond_limits(package: Package, count: Count, models: Models) -> list[Problem]:
    """Return a problem (PL-F069) for each role of the package that too few or too many instances have; fewer than
    recommended is only a warning.
    """
    found, problems = limits_of(package, models)
    return [*problems, *beyond(found, count)]


def _in_force(limits: InstanceLimits, models: Models) -> tuple[int | None, int | None, int | None, str]:
    """Return the limits of a role as (least, most, recommended, message).

    They come from the first override in ``limits`` whose condition is true. A number that the override lacks, or all
    numbers if there is no override, come from the limits themselves.
    """
    over = next((each for each in limits.overrides if holds(each.condition, models)), None)
    chosen = [
        _number(own if over is None or other is None else other, models)
        for own, other in (
            (limits.min, over.min if over else None),
            (limits.max, over.max if over else None),
            (limits.recommended, over.recommended if over else None),
        )
    ]
    return chosen[0], chosen[1], chosen[2], over.message if over is not None else ""


def _number(value: int | str | None, models: Models) -> int | None:
    found = value_of(value, models) if isinstance(value, str) else value
    return found if isinstance(found, int) and not isinstance(found, bool) else None
