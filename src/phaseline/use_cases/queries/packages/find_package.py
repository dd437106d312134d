"""Find an installed package by ``NAME`` or ``NAME==VERSION``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.use_cases.lookup import announced_packages
from phaseline.use_cases.lookup.installed_packages import installed_rows

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.packages.installed import PackageRow

NAMED = re.compile(r"([a-z0-9_-]+)(?:==([0-9A-Za-z.+-]+))?")


def read_name(text: str) -> tuple[str, str] | None:
    """Split ``NAME`` or ``NAME==VERSION`` into (name, version); the version is "" if none is given.

    Return None if the text cannot name a package.

    >>> read_name("ntp==1.0.2"), read_name("ntp"), read_name("./ntp")
    (('ntp', '1.0.2'), ('ntp', ''), None)
    """
    found = NAMED.fullmatch(text)
    return None if found is None else (found[1], found[2] or "")


def find_package(ctx: RequestContext, text: str, *, whole: bool = False) -> PackageRow:
    """Return the installed package that ``NAME==VERSION`` names; for ``NAME`` its newest version.

    ``whole``: the text must contain a version. Raises: PL-F062.
    """
    named = read_name(text)
    name, version = named or (text, "")
    known = installed_rows(ctx)
    fitting = [row for row in known if row.name == name]
    if whole and named is not None and not version and fitting:
        there = " or ".join(f"{row.name}=={row.version}" for row in fitting)
        raise problem_error("PL-F062", f"'{text}' has no version", f"name it with its version: {there}", subject=text)
    found = next((row for row in reversed(fitting) if version in {"", row.version}), None)
    if found is None:
        raise unknown(text, name, fitting, known)
    return found


def unknown(text: str, name: str, fitting: Sequence[PackageRow], known: Sequence[PackageRow]) -> ProblemsError:
    """Return the error PL-F062 with the name that was probably intended."""
    if fitting:
        there = ", ".join(row.version for row in fitting)
        return problem_error(
            "PL-F062", f"there is no package '{text}'", f"installed of '{name}': {there}", subject=text
        )
    hint = did_you_mean(name, sorted({row.name for row in known}))
    announced = _is_announced(name)
    see = (
        "register it, as a distribution announces it: phaseline plugins sync"
        if announced
        else "list the packages: phaseline plugins list"
    )
    mend = see if announced else f"{hint} {see}".strip()
    return problem_error("PL-F062", f"there is no package '{text}'", mend, subject=text)


def _is_announced(name: str) -> bool:
    """Return whether an installed distribution has a package of this name that ``plugins sync`` has not stored yet."""
    found = (
        announced_packages.read_identity(Path(source.folder))
        for source in announced_packages.announced_sources()
        if source.folder
    )
    return any(named is not None and named[0] == name for named in found)
