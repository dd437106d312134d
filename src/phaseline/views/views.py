"""The answers of the use cases: frozen values, equal for the command line and for programs.

Times are integer milliseconds since 1970; 0 means that the event has not happened yet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Generic, TypeVar

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import Problem
from phaseline.model.rows.rows import DeploymentKind

if TYPE_CHECKING:
    from phaseline.views.background import Background
    from phaseline.views.phase_entry import PhaseEntryView

T_co = TypeVar("T_co", covariant=True)


@frozen
class Page(Generic[T_co]):
    """A part of a list: its first ``items``, and the number ``total`` of all items.

    ``flaws``: sentences about items that are left out because they cannot be read.
    """

    items: Sequence[T_co]
    total: int
    flaws: Sequence[str] = ()

    @property
    def is_whole(self) -> bool:
        """True if the page contains all items."""
        return len(self.items) == self.total


@frozen
class Cause:
    """The exception behind a failure: its type, and the plugin's traceback if there is one."""

    type: str
    traceback: str = ""


@frozen
class Failure:
    """An entry that failed or is unsure, with its cause.

    ``status``: the status of the entry. ``attempts``: the number of retries made. ``instance`` and ``target``: source
    and target of the relationship, if the operation belongs to one. ``function``: the implementation of the operation
    in the blueprint, which is a function, the path of a script or ``inline script``; empty if it has none (W4).
    """

    instance: str
    node: str
    target: str
    operation: str
    status: str
    message: str
    cause: Cause | None
    attempts: int
    graph: int
    position: int
    function: str = ""


@frozen
class FailingCall:
    """A call that failed and is tried again. ``attempts``: the number of the retry that is next or runs.

    ``max_retries`` is -1 if unlimited. ``instance`` and ``target``: source and target of the relationship, if the
    operation belongs to one. ``due_at``: time of the retry in ms; 0 if it runs or begins now. ``is_repeated``: the last
    two failures of the call had the same message.
    """

    instance: str
    target: str
    operation: str
    status: str
    attempts: int
    max_retries: int
    due_at: int
    message: str
    graph: int
    position: int
    execution: str = ""
    deployment: str = ""
    is_repeated: bool = False


@frozen
class OperatorDecision:
    """A user's request about an execution: its time, user, kind (such as ``retry`` or ``cancel``) and ``details``.

    ``details``: such as the reason that the user gave.
    """

    at: int
    actor: str
    what: str
    details: str = ""
    is_refused: bool = False


@frozen
class ExecutionView:
    """The present status of one execution.

    ``counts``: {status word: number of entries} of its graphs, without replaced graphs. ``runner``: the process that
    owns the store while the execution is open; empty if there is none. ``detached``: the command left intentionally
    while the execution continues. ``background``: the engine that was started to continue the execution. ``waits_for``:
    another execution, which must release its instances before this one begins; empty if there is none. ``plan``: the
    stored plan that the execution carries out. ``stopped``: the number of instances stopped at breakpoints.
    ``warnings``: warnings of hook classes; ``waits``: sentences about hook classes that wait; ``decided``: {instance
    id: decisions of hook classes}; ``hook_counts``: {status word: number of calls of hook classes}, which are not
    steps; ``hook_ms``: the duration of these calls (0 if not read). ``failing``: calls that failed and are retried,
    only in a view of one open execution. ``now_at``: the time of the view; 0 if unknown.
    """

    id: str
    workflow: str
    deployment: str
    status: ExecutionStatus
    reason: str
    attempt: int
    created_at: int
    started_at: int
    ended_at: int
    created_by: str
    counts: Mapping[str, int] = field(default_factory=dict)
    failures: Sequence[Failure] = ()
    failure_count: int = 0
    interrupted: bool = False
    notices: Sequence[str] = ()
    runner: str = ""
    decisions: Sequence[OperatorDecision] = ()
    detached: bool = False
    background: "Background | None" = None
    waits_for: str = ""
    plan: str = ""
    stopped: int = 0
    warnings: Sequence[str] = ()
    waits: Sequence[str] = ()
    decided: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    hook_counts: Mapping[str, int] = field(default_factory=dict)
    hook_ms: int = 0
    failing: Sequence[FailingCall] = ()
    failing_count: int = 0
    now_at: int = 0

    @property
    def is_good(self) -> bool:
        """True if the execution did what was requested."""
        return self.status is ExecutionStatus.COMPLETED


@frozen
class DeploymentView:
    """One deployment. ``states``: {state word: number of instances}; ``status``: one word for the deployment (W11).

    ``kind``: whether it was made of a blueprint or of resources. ``unfinished``: an earlier execution that failed and
    left instances half way, if nothing has repaired them since; empty if there is none. ``flaw``: why the deployment
    cannot be read; empty if it can.

    The other statuses are in Cloudify's words (LB10): ``deployment_status`` is the worst of its own and of all that
    belongs to it. ``parents`` are the deployments to which it belongs. ``drifted_instances`` and
    ``unavailable_instances`` count results of checks.
    """

    name: str
    status: str
    blueprint_file: str
    description: str
    created_at: int
    created_by: str
    instance_count: int
    states: Mapping[str, int] = field(default_factory=dict)
    latest_execution: str = ""
    latest_status: str = ""
    kind: DeploymentKind = "blueprint"
    unfinished: str = ""
    flaw: str = ""
    site_name: str = ""
    installation_status: str = ""
    latest_execution_status: str = ""
    deployment_status: str = ""
    sub_services_count: int = 0
    sub_services_status: str = ""
    sub_environments_count: int = 0
    sub_environments_status: str = ""
    parents: Sequence[str] = ()
    drifted_instances: int = 0
    unavailable_instances: int = 0


@frozen
class DeploymentDetails(DeploymentView):
    """One deployment with data that lists leave out: inputs, {node: instances}, and the folders of its code.

    ``stored_blueprints``: {namespace: version} of the stored blueprints that it was made of; its own blueprint has an
    empty namespace. ``labels``: {key: values}.
    """

    inputs: Mapping[str, Value] = field(default_factory=dict)
    nodes: Mapping[str, int] = field(default_factory=dict)
    folder: str = ""
    folder_is_there: bool = True
    plugin_folders: Sequence[str] = ()
    stored_blueprints: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    providers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """{deployment that this one reads: the places of its blueprint that do}, such as ``{"net": ["web.ip"]}``."""
    consumers: Sequence[str] = ()
    """The first 20 deployments that read this one; ``consumer_count`` is the number of all."""
    consumer_count: int = 0
    under_way: str = ""
    """What an execution is modifying now, and which execution; empty if none is."""


@frozen
class InstanceView:
    """One node instance. ``relationships``: (type, id of the target); ``scaling_groups``: (group, id), innermost first.

    ``health`` is healthy, healed or unhealthy; ``drift`` is none, drifted or unknown (the check failed). They are the
    results of the last checks, empty if there were none. ``restricted_actions``: actions that are forbidden for the
    instance. Lists of instances leave out ``system_properties``, all check results
    (``model.health.system_properties``), and ``phases``, the entry of each phase that it has been in (decision 15).
    """

    id: str
    node: str
    deployment: str
    index: int
    state: str
    host: str = ""
    container: str = ""
    runtime_properties: Mapping[str, Value] = field(default_factory=dict)
    relationships: Sequence[tuple[str, str]] = ()
    scaling_groups: Sequence[tuple[str, str]] = ()
    health: str = ""
    drift: str = ""
    system_properties: Mapping[str, Value] = field(default_factory=dict)
    phases: "Sequence[PhaseEntryView]" = ()
    restricted_actions: Sequence[str] = ()


@frozen
class Outputs:
    """Outputs and capabilities of a deployment, computed when they were requested."""

    deployment: str
    outputs: Mapping[str, Value]
    capabilities: Mapping[str, Value]


@frozen
class Validated:
    """The contents and warnings of a blueprint without errors.

    Plugins are grouped by where they run (B34): {host: plugins}, {node: plugins} and plugins of workflows.
    """

    file: str
    version: str
    nodes: int
    inputs: Sequence[str]
    warnings: Sequence[Problem] = ()
    host_plugins: Mapping[str, Sequence[str]] = field(default_factory=dict)
    central_plugins: Mapping[str, Sequence[str]] = field(default_factory=dict)
    workflow_plugins: Sequence[str] = ()


@frozen
class Line:
    """One line of a log or of the events. ``instance``, ``operation`` and the user ``actor`` may be empty."""

    at: int
    level: str
    deployment: str
    instance: str
    operation: str
    text: str
    actor: str = ""
