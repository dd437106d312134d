"""The request to run a workflow, the execution's history so far, and the planner's answers."""

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
"""Largest number of retries or failures that is accepted; a larger number must be a mistake."""
MOST_SPAN_S = 1e9
"""Longest time span (s) that is accepted, about thirty years; for no limit, leave the setting out."""


@frozen
class StopAfter:
    """The failures that an execution tolerates before entries that have not begun are canceled.

    ``failures`` is how many entries may fail (None: any number), ``share`` (0.0-1.0) which part of the subjects of a
    group, and ``seconds`` how long the execution continues after the first failure. The first limit that is reached
    counts. ``--on-failure stop`` is ``StopAfter(failures=0)``.
    """

    failures: int | None = None
    share: float | None = None
    seconds: float | None = None


def read_limit(text: str) -> StopAfter:
    """Read a limit of failures: ``3`` (more than three), ``10%`` (of the calls of a node) or ``30s`` (after the first).

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
    """How an execution retries operations that declare nothing themselves (W3, WD14). A number of -1 means no limit.

    ``subgraph_retries`` is how often an instance with a failed life cycle is removed and installed again (W5).
    ``backoff_s`` replaces the interval: the times before the first retry, the second, ...; the last one repeats
    (decision 34).
    """

    task_retries: int = 60
    task_retry_interval_s: float = 15.0
    subgraph_retries: int = 0
    backoff_s: tuple[float, ...] = ()


WATCHED_WORKFLOWS = frozenset(
    {"uninstall", "abandon", "delete", "stop", "restart", "reinstall", "scale", "update", "heal"}
)
"""Workflows that are refused while another deployment reads what they touch (DP7)."""
UNCHECKED = "*"
"""Value of ``Request.despite``: consumers are not looked for, neither when it is requested nor when it begins."""


@frozen
class Request:
    """A user's request to run a workflow on a deployment. ``clean``: remove half-made instances first (W8).

    ``if_busy`` is what to do while another execution claims the instances (decision 4): ``wait`` for it, ``refuse`` to
    be stored, or ``force`` to run beside it. ``take_back``: after a failure delete the instances that the execution
    created. ``is_surrounded``: a ``PrePost`` is stored with the execution. ``acts_since`` is the attempt in which its
    present action began; a retry of an ended execution is a new action with its own hooks. ``timeout_s`` is the time
    after which an attempt is canceled (None: never). ``breakpoints`` are where instances stop until a user clears them.
    ``despite``: consumers that read what it touches, although which a user has forced it (DP8); ``UNCHECKED`` if none were
    looked for. ``group_run``: the number of the run over a deployment group to which it belongs; 0: none. ``flaw`` is why
    the stored request cannot be carried out; then the other fields have no meaning.
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
    despite: str = ""
    group_run: int = 0

    @property
    def timeout_ms(self) -> int:
        """Time limit of an attempt in ms; 0: no limit."""
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
    for name, number in (("acts_since", request.acts_since), ("group_run", request.group_run)):
        if not _is_whole(number, 0):
            yield name, "a whole number"
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
"""Key in ``Round.counts`` for tolerated failures; the key ``failed`` counts the other failures."""


@frozen
class Round:
    """One graph that has settled: its name, and the number of its entries in each status.

    ``counts`` is {status word: number}; tolerated failures are counted separately. ``attempt`` is how many retries by
    users had reopened the execution. ``is_borne``: the failures are within the bounds of the graph.
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
    """State paths for a planner of a blueprint whose nodes are moved through states by phases (ADR 0014).

    ``registry`` has the phases and paths that apply to this blueprint. ``numbers`` is {state: its number}.
    """

    registry: PhaseRegistry
    numbers: Mapping[str, int]


def _no_checks() -> Checks:
    from phaseline.model.health.checks import Checks  # brings numpy along, which many commands do without

    return Checks()


@frozen
class History:
    """What a planner may know: states by instance number (uint8), the rounds so far, and whether the execution was canceled.

    ``paths`` is None if phases move no node of the blueprint through states. ``execution`` is the id, empty in a plan.
    ``checks`` has the results of the last checks. ``aim`` returns the target of an update. ``called`` returns for the
    name of a round of this attempt which instances it called an operation for (bool by number), or None without such a
    round. ``said`` returns (phase, message) of the first failures of a round. ``is_afresh``: a retry that can continue
    nothing of an earlier attempt. ``planner`` returns the planner of another workflow by name. ``is_timed_out``: it was
    canceled at its time limit.
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
    """A planner's answer that changes the topology without any call; after it the planner is asked again.

    It is stored in one turn with a round that has this ``name`` and no entries, so a crash cannot leave it half done.
    ``topology`` is the new topology; earlier instances keep their numbers, but its blueprint may be new. ``inputs`` (as
    stored), ``code`` and ``uses`` (as in ``NewDeployment``) are None if unchanged. ``keeps`` is (kind, name) of a
    document of the deployment to store in this turn, ``drops`` of one to delete. ``marks`` is (instance numbers that a
    user marks as unhealthy, the reason). ``labels`` are changes of the deployment's labels.
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
    """A planner's answer to a retry: the last graph with this ``name`` continues with its failed or canceled entries."""

    name: str


@frozen
class Verdict:
    """The planner's final answer: how the execution ended and why.

    ``is_idle``: the requested state existed already. If this is the answer to the first question, nothing is called,
    not even hooks. ``forgets``: the deployment is deleted in the turn that ends the execution.
    """

    status: ExecutionStatus
    reason: str = ""
    is_idle: bool = False
    forgets: bool = False
