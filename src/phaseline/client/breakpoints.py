"""Breakpoints for Python programs: a noun of ``phaseline.open()``, made like those beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.client.argument_checks import checked

if TYPE_CHECKING:
    from phaseline.app.app_context import Workplace
    from phaseline.app.watcher import Watcher
    from phaseline.use_cases.commands.breakpoints import Kept
    from phaseline.use_cases.queries.breakpoints import Stopped


@checked("breakpoints")
class Breakpoints:
    """Instances that stand where somebody wanted to look before they go on."""

    def __init__(self, place: Workplace) -> None:
        """Of the store of this place."""
        self._place = place

    def list(self, deployment: str | None = None) -> Sequence[Stopped]:
        """Who stands at a breakpoint, of all deployments or of one."""
        from phaseline.use_cases.queries.breakpoints import list_breakpoints

        return list_breakpoints(self._place, deployment)

    def kept(self, deployment: str | None = None) -> Sequence[Kept]:
        """What deployments and clusters keep for all that is begun from now on."""
        from phaseline.use_cases.commands.breakpoints import list_kept

        return list_kept(self._place, deployment)

    def add(self, deployment: str, *points: str, timeout: str | None = None) -> Kept:
        """Let all that is begun from now on in a deployment or cluster stop there; without a point what it has."""
        from phaseline.lang.durations import read_span
        from phaseline.use_cases.commands.breakpoints import add

        return add(self._place, deployment, points, timeout_s=None if timeout is None else read_span(timeout))

    def remove(self, deployment: str, *points: str) -> Kept:
        """Let what is begun from now on stop there no more."""
        from phaseline.use_cases.commands.breakpoints import remove

        return remove(self._place, deployment, points)

    def clear(
        self,
        point: str,
        *,
        deployment: str | None = None,
        instances: Sequence[str] = (),
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> Sequence[Stopped]:
        """Let those go on that stand at a point, such as ``pre-create`` or ``*``, or only these; who they were."""
        from phaseline.use_cases.commands.breakpoints import clear

        return clear(self._place, point, deployment=deployment, instances=instances, watcher=watcher, detach=detach)
