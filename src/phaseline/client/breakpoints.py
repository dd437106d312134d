"""The methods ``client.breakpoints``: points at which instances stop until a user has inspected them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun
from phaseline.client.execution_options import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from phaseline.client.option_types import FollowOptionsDict
    from phaseline.use_cases.commands.breakpoints import Kept
    from phaseline.use_cases.queries.breakpoints import StoppedInstance


class BreakpointsNoun(Noun):
    """Breakpoints, and the instances and resources that are stopped there until a user clears them.

    A point is an operation or phase with ``pre-`` or ``post-``, such as ``pre-create``. In it ``*`` replaces any part
    of a name.
    """

    def list(self, deployment: str | None = None) -> Sequence[StoppedInstance]:
        """Return the instances that are stopped at breakpoints, of one deployment or of all."""
        return self._call(ops.LIST_BREAKPOINTS, deployment=deployment)

    def kept(self, deployment: str | None = None) -> Sequence[Kept]:
        """Return the stored breakpoints of deployments and clusters; all work that begins from now on uses them."""
        return self._call(ops.KEPT_BREAKPOINTS, deployment=deployment)

    def add(self, deployment: str, *points: str, timeout: str | None = None) -> Kept:
        """Add breakpoints to a deployment or cluster, for all work that begins from now on; return all of them.

        Without a point, only return the present breakpoints. ``timeout``: a span such as ``10m`` after which an
        instance that is still stopped fails.
        """
        return self._call(ops.ADD_BREAKPOINTS, deployment=deployment, points=points, timeout_s=seconds(timeout))

    def remove(self, deployment: str, *points: str) -> Kept:
        """Remove breakpoints from a deployment or cluster; instances stopped there stay stopped until ``clear``."""
        return self._call(ops.REMOVE_BREAKPOINTS, deployment=deployment, points=points)

    def clear(
        self,
        point: str,
        *,
        deployment: str | None = None,
        instances: Sequence[str] = (),
        **options: Unpack[FollowOptionsDict],
    ) -> Sequence[StoppedInstance]:
        """Let the instances that are stopped at a point continue, and return them.

        ``point``: such as ``pre-create``, or ``*`` for all points. ``instances``: only these instances.
        """
        return self._call(ops.CLEAR_BREAKPOINTS, point=point, deployment=deployment, instances=instances, **options)
