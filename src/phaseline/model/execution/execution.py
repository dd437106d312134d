"""A request to run a workflow, its history so far, and the planner's final verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.status import ExecutionStatus

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.labels import Relabelled
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.stack_documents import DocumentKind
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.execution.stored_plans import Aim
    from phaseline.model.graph.graph import Graph
    from phaseline.model.health.checks import Checks
    from phaseline.model.phases.registry import PhaseRegistry


IfBusy = Literal["wait", "refuse", "force"]
IF_BUSY: tuple[IfBusy, ...] = ("wait", "refuse", "force")
MOST_RETRIES = 1_000_000_000
"""The largest number of retries or failures accepted; a larger one is treated as a mistake."""
MOST_SPAN_S = 1e9
"""The longest time span, about thirty years; leave the setting out for no limit."""


@frozen
class StopAfter:
    """How many failures an execution tolerates before what has not begun is canceled.

    ``failures`` entries may fail (None: any number); ``share`` of the subjects of a group
    (0.0-1.0); ``seconds`` after the first failure. The first limit reached counts.
    ``--on-failure stop`` is ``StopAfter(failures=0)``.
    """

    failures: int | None = None
    share: float | None = None
    seconds: float | None = None


def read_limit(text: str) -> StopAfter:
    """How many failures are too many, from ``3`` (more than three), ``10%`` (of the calls of a node) or ``30s``.

    Raises: ``ValueError`` for anything else.

    >>> read_limit("10%").share, read_limit("30s").seconds, read_limit("3").failures
    (0.1, 30.0, 3)
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(%|s)?", text.strip())
    if found is None or (found[2] is None and "." in found[1]) or (found[2] == "%" and float(found[1]) > 100):
        raise ValueError(f"'{text}' is not a number of failures (3), a share (10%) or a time (30s)")
    if found[2] is None:
        return StopAfter(failures=int(found[1]))
    return StopAfter(share=float(found[1]) / 100) if found[2] == "%" else StopAfter(seconds=float(found[1]))


@frozen
class RetryPolicy:
    """Retry defaults of an execution for operations without their own (W3, WD14): -1 means no limit.

    ``subgraph_retries``: how often an instance whose life cycle has failed is taken away and goes through it again (W5).
    ``backoff_s``: in place of the interval, the times before the first retry, the second …; the last one stays (decision 34).
    """

    task_retries: int = 60
    task_retry_interval_s: float = 15.0
    subgraph_retries: int = 0
    backoff_s: tuple[float, ...] = ()


@frozen
class Request:
    """A user's request: a workflow over a deployment. ``clean``: clean up half-made instances first (W8).

    ``if_busy``: what to do while another execution has a claim on its instances (decision 4): ``wait`` for it, ``refuse``
    to be stored, or run beside it by ``force``. ``take_back``: if it fails, the instances that it created are deleted again.
    ``is_surrounded``: a ``PrePost`` is stored with its execution; ``acts_since``: the attempt in which its present action began;
    a retry of an ended execution is an action of its own, with its own hooks. ``timeout_s``: an attempt that takes longer is
    canceled; None: never. ``breakpoints``: where instances stop until they are cleared. ``flaw``: why the stored request
    cannot be carried out; then the other fields are meaningless.
    """

    workflow: str
    parameters: Mapping[str, Value] = field(default_factory=dict)
    retries: RetryPolicy = RetryPolicy()
    stop_after: StopAfter | None = None
    clean: bool = False
    if_busy: IfBusy = "wait"
    take_back: bool = False
    is_surrounded: bool = False
    acts_since: int = 0
    timeout_s: float | None = None
    breakpoints: tuple[Breakpoint, ...] = ()
    flaw: str = ""

    @property
    def timeout_ms(self) -> int:
        """The time limit of an attempt in ms; 0: no limit."""
        return 0 if self.timeout_s is None else round(self.timeout_s * 1000)


def flaws_of(request: Request) -> Iterator[tuple[str, str]]:
    """Yield (name of a value, what it must be) for each value of a request that no planner or scheduler can use.

    >>> list(flaws_of(Request("install", retries=RetryPolicy(task_retries="x"))))
    [('task_retries', 'a whole number from 0 on, or -1 for no end')]
    """
    retries, stop = request.retries, request.stop_after
    if not _is_of(request.workflow, str):
        yield "workflow", "a text"
    if not _is_of(request.parameters, Mapping):
        yield "parameters", "a mapping"
    for name, number in (("task_retries", retries.task_retries), ("subgraph_retries", retries.subgraph_retries)):
        if not _is_whole(number, -1):
            yield name, "a whole number from 0 on, or -1 for no end"
    if not _is_amount(retries.task_retry_interval_s, MOST_SPAN_S):
        yield "task_retry_interval", "a number of seconds"
    if not all(_is_amount(span, MOST_SPAN_S) for span in retries.backoff_s):
        yield "backoff", "numbers of seconds"
    if stop is not None and not (
        (stop.failures is None or _is_whole(stop.failures, 0))
        and (stop.share is None or _is_amount(stop.share, 1))
        and (stop.seconds is None or _is_amount(stop.seconds, MOST_SPAN_S))
    ):
        yield "stop_after", "a number of failures (3), a share (10%) or a time (30s)"
    if request.if_busy not in IF_BUSY:
        yield "if_busy", f"one of {', '.join(IF_BUSY)}"
    if request.timeout_s is not None and not (request.timeout_s and _is_amount(request.timeout_s, MOST_SPAN_S)):
        yield "timeout", "a time such as 90s, 10m or 2h"
    if not _is_whole(request.acts_since, 0):
        yield "acts_since", "a whole number"
    for stop_at in request.breakpoints:
        if not (_is_of(stop_at.point, str) and _is_of(stop_at.nodes, str)):
            yield "breakpoints", "points such as pre-create, with names of nodes"
        if stop_at.timeout_s is not None and not _is_amount(stop_at.timeout_s, MOST_SPAN_S):
            yield "breakpoints", "points such as pre-create, with a time such as 30s"


def _is_of(value: object, kind: type) -> bool:
    return isinstance(value, kind)


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= MOST_RETRIES


def _is_amount(value: object, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most


TOLERATED = "tolerated"
"""Word in ``Round.counts`` for entries that failed where failure is tolerated; ``failed`` counts the others."""


@frozen
class Round:
    """One graph that has settled: its name, and the number of its entries for each status.

    ``counts`` is {status word: number}; tolerated failures are counted separately. ``attempt`` counts the retries by
    users that reopened the execution. ``is_borne``: the failures are within the bounds of the graph.
    """

    name: str
    attempt: int
    counts: Mapping[str, int]
    is_borne: bool = False

    @property
    def is_met(self) -> bool:
        """True when every entry is completed, passed, or failed with a failure that is tolerated."""
        lost = ("canceled", "unsure") if self.is_borne else ("failed", "skipped", "canceled", "unsure")
        return not any(self.counts.get(word, 0) for word in lost)


@frozen
class StatePathIndex:
    """State paths for a planner, for blueprints whose nodes move through states by phases (ADR 0014).

    ``registry``: phases and paths as they are for this blueprint; ``numbers``: {state: its number}.
    """

    registry: PhaseRegistry
    numbers: Mapping[str, int]


def _no_checks() -> Checks:
    from phaseline.model.health.checks import Checks  # brings numpy along, which many commands do without

    return Checks()


@frozen
class History:
    """The planner's input: present states by instance number (uint8), rounds so far, whether canceled.

    ``paths``: None if no node of the blueprint moves through states by phases. ``execution``: its id, empty in a plan.
    ``checks``: results of the last checks. ``aim``: returns the target of an update. ``called``: returns, for the name of a round of
    this attempt, the instances for which it called an operation (bool by number); None if there was no such round. ``said``: returns
    (phase, message) of the first few failures of a round. ``is_afresh``: a retry that cannot continue anything of an earlier attempt.
    ``planner``: returns the planner of another workflow of the deployment, by its name. ``is_timed_out``: it was canceled because its
    time was over.
    """

    states: np.ndarray
    rounds: tuple[Round, ...] = ()
    canceled: bool = False
    attempt: int = 0
    paths: StatePathIndex | None = None
    execution: str = ""
    checks: Checks = field(default_factory=_no_checks)
    aim: Callable[[], Aim | None] = lambda: None
    called: Callable[[str], np.ndarray | None] = lambda _name: None
    said: Callable[[str], Sequence[tuple[str, str]]] = lambda _name: ()
    is_afresh: bool = False
    planner: Callable[[str], Callable[..., Graph | Reshape | GoOn | Verdict] | None] = lambda _name: None
    is_timed_out: bool = False


@frozen
class Reshape:
    """A planner's answer that changes the topology without any call; then the planner is asked again.

    It is stored in the same turn as its round, which has this ``name`` and no entries. So after a crash it has happened wholly or
    not at all. ``topology``: the new topology, in which all earlier instances keep their numbers; its blueprint may be new.
    ``inputs`` (as stored), ``code`` and ``uses`` (as in ``NewDeployment``): None if they stay the same. ``keeps``: (kind, name) of a
    document of the deployment to store in that turn; ``drops``: (kind, name) of a document to delete. ``marks``: (instance numbers
    that a user marks as unhealthy, the reason). ``labels``: changes of the deployment's labels.
    """

    name: str
    topology: Topology
    inputs: Mapping[str, Value] | None = None
    code: CodeLocation | None = None
    uses: Mapping[str, int] | None = None
    keeps: tuple[DocumentKind, str] | None = None
    drops: tuple[DocumentKind, str] | None = None
    marks: tuple[np.ndarray, str] | None = None
    labels: Relabelled | None = None


@frozen
class GoOn:
    """A planner's answer to a retry: the last graph of this ``name`` continues with its failed or canceled entries."""

    name: str


@frozen
class Verdict:
    """The planner's final answer: how the execution ended and why.

    ``is_idle``: the requested state was reached already. If it is given before the first round, nothing is called, hooks
    included. ``forgets``: the deployment is deleted in the turn that ends the execution.
    """

    status: ExecutionStatus
    reason: str = ""
    is_idle: bool = False
    forgets: bool = False
