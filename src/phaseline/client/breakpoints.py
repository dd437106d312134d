"""Breakpoints: instances that are stopped where somebody wanted to look before they continue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun
from phaseline.client.execution_options import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from phaseline.client.execution_options import FollowOptionsDict
    from phaseline.use_cases.commands.breakpoints import Kept
    from phaseline.use_cases.queries.breakpoints import StoppedInstance


class BreakpointsNoun(Noun):
    """Instances that are stopped where somebody wanted to look before they continue."""

    def list(self, deployment: str | None = None) -> Sequence[StoppedInstance]:
        """Instances stopped at a breakpoint, of all deployments or of one."""
        return self._call(ops.LIST_BREAKPOINTS, deployment=deployment)

    def kept(self, deployment: str | None = None) -> Sequence[Kept]:
        """The breakpoints that deployments and clusters keep for all that begins from now on."""
        return self._call(ops.KEPT_BREAKPOINTS, deployment=deployment)

    def add(self, deployment: str, *points: str, timeout: str | None = None) -> Kept:
        """Let all that begins from now on in a deployment or cluster stop there; without a point what it has."""
        return self._call(ops.ADD_BREAKPOINTS, deployment=deployment, points=points, timeout_s=seconds(timeout))

    def remove(self, deployment: str, *points: str) -> Kept:
        """Let what begins from now on stop there no more."""
        return self._call(ops.REMOVE_BREAKPOINTS, deployment=deployment, points=points)

    def clear(
        self,
        point: str,
        *,
        deployment: str | None = None,
        instances: Sequence[str] = (),
        **options: Unpack[FollowOptionsDict],
    ) -> Sequence[StoppedInstance]:
        """Let those continue that are stopped at a point, such as ``pre-create`` or ``*``, or only these; returns them."""
        return self._call(ops.CLEAR_BREAKPOINTS, point=point, deployment=deployment, instances=instances, **options)
