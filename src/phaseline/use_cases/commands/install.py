"""Install a blueprint; take a deployment away again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from phaseline.app.watcher import Nobody
from phaseline.embedded.run_execution import conduct, refuse
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.execution.execution import Request, RetryPolicy, StopAfter, flaws_of
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import Problem, ProblemsError, fail
from phaseline.use_cases.lookup.claims import lets_be, refuse_busy
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.ticket import Ticket, once
from phaseline.use_cases.prepare.pre_post import new_execution, with_stops

if TYPE_CHECKING:
    from phaseline.app.app_context import Workplace
    from phaseline.app.settings import Settings
    from phaseline.app.watcher import Watcher
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.execution.execution import IfBusy
    from phaseline.model.rows.orders import NewOrder
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow
    from phaseline.use_cases.loading.blueprint_loading import Loaded
    from phaseline.views.views import ExecutionView


OnFailure = Literal["continue", "stop", "rollback"]
UNFINISHED = (ExecutionStatus.FAILED, ExecutionStatus.CANCELED)
"""Ends after which a retry has something to do."""


@frozen
class Manner:
    """How an execution deals with failures. ``task_retries`` None: as the settings say.

    ``stop_after``: how much may fail before nothing new begins; ``on_failure`` ``stop`` says: nothing, and ``rollback`` that
    what was made is taken away again then. ``if_busy``: whether to wait while another execution has a claim on the same instances, to refuse, or to run beside it (decision 4).
    ``timeout_s``: an attempt that takes longer is canceled. ``subgraph_retries``: how often an instance whose life cycle failed goes
    through it again; None: as the settings say. ``breakpoints``: where instances stop, beside those of the deployment.
    """

    task_retries: int | None = None
    on_failure: OnFailure = "continue"
    stop_after: StopAfter | None = None
    if_busy: IfBusy = "wait"
    timeout_s: float | None = None
    subgraph_retries: int | None = None
    breakpoints: tuple[Breakpoint, ...] = ()

    def request(self, workflow: str, place: Workplace, parameters: Mapping[str, Value], topology: Topology) -> Request:
        """The request of a workflow of this topology in this manner. Raises: PL-C094 for every value of it that cannot be meant."""
        settings = place.settings
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
            mend = "Write it as the page of the command says: phaseline install --help"
            raise ProblemsError([Problem("PL-C094", f"{name} is not {wanted}", mend) for name, wanted in flaws])
        return request


OWN_RETRIES = RetryPolicy(3, backoff_s=(2.0, 8.0, 30.0))
"""Of operations of blueprints in our own language that do not say theirs (decision 34)."""
OWN_LANGUAGE = "phaseline_dsl_"


def retries_of(language: str, settings: Settings, asked: int | None) -> RetryPolicy:
    """How often and when failed operations are tried again: as asked for, else as set, else as the language has it."""
    found = OWN_RETRIES if language.startswith(OWN_LANGUAGE) else RetryPolicy()
    count = settings.task_retries if asked is None else asked
    if count is not None:
        found = altered(found, task_retries=count)
    interval = settings.task_retry_interval_s
    return found if interval is None else altered(found, task_retry_interval_s=interval, backoff_s=())


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


AS_SET = Manner()
"""As the settings say; independent branches go on after a failure."""


@frozen
class Order:
    """What is to be installed: a blueprint file, a name for the deployment (None: its folder's), inputs, plugins.

    ``runtime_only``: functions are evaluated when their values are needed, not when the deployment is made (B41).
    ``labels``: as ``KEY=VALUE``, beside those of the blueprint.
    """

    file: str
    name: str | None = None
    inputs: Mapping[str, Value] = field(default_factory=dict)
    plugin_folders: Sequence[str] = ()
    yes_many: bool = False
    runtime_only: bool = False
    labels: Sequence[str] = ()


def load_order(place: Workplace, order: Order) -> Loaded:
    """The deployment as it would be. Raises ``ProblemsError`` with everything that is wrong."""
    from phaseline.use_cases.loading.blueprint_loading import load

    loaded = load(
        place,
        order.file,
        inputs=order.inputs,
        plugin_folders=order.plugin_folders,
        yes_many=order.yes_many,
        runtime_only=order.runtime_only,
    )
    if not order.labels:
        return loaded
    from phaseline.use_cases.commands.labels import with_given

    return with_given(loaded, order.labels)


@once("install")
def install(
    place: Workplace,
    order: Order,
    *,
    manner: Manner = AS_SET,
    watcher: Watcher | None = None,
    detach: bool = False,
    given: NewOrder | None = None,
) -> ExecutionView:
    """Make a deployment of a blueprint and install it; the execution as it ended, or with ``detach`` as it began.

    Raises: ``ProblemsError`` with everything that is wrong; then nothing was stored.
    """
    from phaseline.plan.preview.agent_warnings import agent_warning
    from phaseline.use_cases.loading.blueprint_loading import deployment_name
    from phaseline.use_cases.loading.deployment_rows import new_deployment

    name = deployment_name(order.file, order.name)
    loaded = load_order(place, order)
    request = with_stops(place, manner.request("install", place, {}, loaded.topology), loaded.topology)
    refuse(loaded.topology, request)
    if manner.breakpoints:
        from phaseline.use_cases.prepare.unreachable_breakpoints import look_before_first

        look_before_first(place, manner.breakpoints, request, loaded, watcher)
    agents = agent_warning(loaded.topology.nodes)
    for warning in (*loaded.warnings, *([agents] if agents else ())):
        (watcher or Nobody()).noticed(f"warning {warning}. {warning.mend}")

    existing = refuse_taken(place, name)
    new = new_deployment(place, name, loaded)
    replaced = existing.number if existing is not None else 0
    asked = new_execution(
        place, replaced, request, at=new.created_at, made=loaded.topology, watcher=watcher
    )  # what was enabled for it is enabled for this one
    with place.store.as_one(given):
        _, row = place.store.create_deployment(new, asked, replaces=replaced, asks=True)
    assert row is not None, "an execution was asked for"
    return conduct(place, Ticket(row), watcher, detach=detach)


@once("uninstall")
def uninstall(
    place: Workplace,
    name: str,
    *,
    ignore_failure: bool = False,
    recursive: bool = False,
    manner: Manner = AS_SET,
    watcher: Watcher | None = None,
    detach: bool = False,
    given: NewOrder | None = None,
) -> ExecutionView:
    """Stop and delete every instance of a deployment; the record of the deployment stays (W23).

    ``recursive``: deployments that belong to it are uninstalled first (W24). Raises: PL-C010 if there is none, PL-C016 while an execution of it is open, PL-C024 if its folder is gone.
    """
    from phaseline.use_cases.loading.moved_folders import refuse_moved

    if recursive:
        from phaseline.use_cases.commands.start_workflow import Start, start

        order = Start("uninstall", name, {"recursive": True, "ignore_failure": ignore_failure}, force=True)
        return start(place, order, manner=manner, watcher=watcher, detach=detach, given=given)
    deployment = find_deployment(place.store, name, to_change=True)
    refuse_moved(place, deployment)
    topology = place.store.topology(deployment.number)
    request = manner.request("uninstall", place, {"ignore_failure": True} if ignore_failure else {}, topology)
    request = with_stops(place, request, topology, deployment=deployment.number)
    refuse(topology, request)
    refuse_busy(place.store, deployment, topology, request)
    if manner.breakpoints:
        from phaseline.use_cases.prepare.unreachable_breakpoints import look_before_start

        look_before_start(place, manner.breakpoints, request, (deployment, topology), watcher)
    new = new_execution(place, deployment.number, request)
    with place.store.as_one(given):
        row = place.store.create_execution(new, asks=True, beside=lets_be(topology, request))
    return conduct(place, Ticket(row), watcher, detach=detach)


def refuse_taken(place: Workplace, name: str) -> DeploymentRow | None:
    """The deployment of this name that a new one would replace. Raises: PL-S010 if something of it may exist or runs."""
    existing = place.store.deployment(name)
    if existing is not None:
        _refuse_living(place, existing)
    return existing


def use_by(found: ExecutionRow) -> str:
    """What an open execution does with its deployment, for a sentence that begins with the deployment."""
    is_install = found.request.workflow == "install"
    return f"and is being installed by {found.id}" if is_install else f"and {found.id} has not ended"


def _refuse_living(place: Workplace, row: DeploymentRow) -> None:
    """Raise PL-S010 unless nothing of the deployment is installed and nothing of it runs."""
    from phaseline.use_cases.queries.deployments import living_count, open_execution

    found = open_execution(place.store, row)
    living = living_count(place.store, row)
    if found is not None:
        way = f"Wait for it: phaseline executions follow {found.id}"
    elif living:
        failed = [one for one in place.store.executions(row.number)[-1:] if one.status in UNFINISHED]
        retry = f"Try again what failed: phaseline executions retry {failed[0].id}. Or r" if failed else "R"
        away = "resources delete --all" if row.kind == "resources" else "uninstall"
        way = f"{retry}emove it first: phaseline {away} -d {row.name}"
    else:
        return
    held = f"with {living} instance{'s' * (living != 1)} that may exist"
    if found is not None:
        held = use_by(found)
    message = f"there is a deployment '{row.name}' already, {held}"
    forget = "" if found else f", or forget it: phaseline deployments delete {row.name} --force"
    mend = f"{way}. Or choose another name with -d{forget}"
    raise fail("PL-S010", message, mend, subject=row.name)
