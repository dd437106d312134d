"""Options of an execution: what it does about failures and other executions, and its breakpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.execution.execution import Request, RetryPolicy, StopAfter, flaws_of
from phaseline.model.problems.problem import Problem, ProblemsError

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.app.settings import Settings
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.execution.execution import IfBusy


OnFailure = Literal["continue", "stop", "rollback"]


@frozen
class ExecutionOptions:
    """Options of an execution: how it treats failures and other executions, and where it stops.

    ``task_retries`` None means the value of the settings. ``stop_after``: the failures that are tolerated before no new
    call begins. ``on_failure``: ``stop`` tolerates no failure; ``rollback`` tolerates none and then removes what the
    execution created. ``if_busy``: what to do while another execution claims the same instances: wait, refuse, or run
    beside it (decision 4). An attempt that takes longer than ``timeout_s`` is canceled. ``subgraph_retries``: how often
    an instance repeats a failed life cycle; None means as in the settings. Instances stop at ``breakpoints``, in addition
    to the breakpoints of the deployment.
    """

    task_retries: int | None = None
    on_failure: OnFailure = "continue"
    stop_after: StopAfter | None = None
    if_busy: IfBusy = "wait"
    timeout_s: float | None = None
    subgraph_retries: int | None = None
    breakpoints: tuple[Breakpoint, ...] = ()

    def request(
        self, workflow: str, ctx: RequestContext, parameters: Mapping[str, Value], topology: Topology
    ) -> Request:
        """Return the request of a workflow with these options. Raises: PL-C094 for each invalid value."""
        settings = ctx.settings
        retries = retries_of(topology.blueprint.version, settings, self.task_retries)
        stop = self.stop_after if self.on_failure == "continue" else StopAfter(failures=0)
        again = settings.subgraph_retries if self.subgraph_retries is None else self.subgraph_retries
        request = Request(
            workflow,
            parameters,
            altered(retries, subgraph_retries=again),
            stop,
            if_busy=self.if_busy,
            take_back=self.on_failure == "rollback",
            timeout_s=self.timeout_s,
            breakpoints=self.breakpoints,
        )
        flaws = list(flaws_of(request))
        if flaws:
            mend = "see the accepted values: phaseline install --help"
            raise ProblemsError([Problem("PL-C094", f"{name} is not {wanted}", mend) for name, wanted in flaws])
        return request


OWN_RETRIES = RetryPolicy(3, backoff_s=(2.0, 8.0, 30.0))
"""Retries in blueprints in Phaseline's own language, for operations that set none themselves (decision 34)."""
OWN_LANGUAGE = "phaseline_dsl_"


def retries_of(language: str, settings: Settings, asked: int | None) -> RetryPolicy:
    """Return how often and when failed operations are retried.

    The request (``asked``) decides first, then the settings, then the default of the blueprint's language.
    """
    found = OWN_RETRIES if language.startswith(OWN_LANGUAGE) else RetryPolicy()
    count = settings.task_retries if asked is None else asked
    if count is not None:
        found = altered(found, task_retries=count)
    interval = settings.task_retry_interval_s
    return found if interval is None else altered(found, task_retry_interval_s=interval, backoff_s=())


DEFAULT_OPTIONS = ExecutionOptions()
"""Default options: those of the settings. Independent branches continue after a failure."""
