"""The table of operations: one row for each thing that a user can request.

An operation has a name (``noun.verb``, as in Python), a kind, a target (the use case that carries it out) and a
requirement on the store. Its type parameter is the type of its answer, so ``self._call(RETRY, id=id)`` returns an
``ExecutionView``. The methods of the nouns (``client.executions``, …) end in such a call; the command line calls these
methods. A server would add columns to this table, such as the required right and the path of its route.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from phaseline.embedded.engine_commands import EngineRun, EngineStatus, StoppedEngine
    from phaseline.embedded.reload_plugins import HooksReloaded, Reloaded
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.diff import Differences
    from phaseline.model.blueprint.provenance import Explained
    from phaseline.model.blueprint.stored_blueprints import StoredBlueprint
    from phaseline.model.packages.installed import PackageRow
    from phaseline.model.rows.maintenance import Compacted, CopiedStore, RestoredStore, StoreVersion
    from phaseline.plan.preview.diagram import Drawing
    from phaseline.use_cases.commands.apply_plan import PlanDetails, PlanView
    from phaseline.use_cases.commands.approve import Approved
    from phaseline.use_cases.commands.breakpoints import Kept
    from phaseline.use_cases.commands.labels import Labels
    from phaseline.use_cases.commands.maintenance import CheckedStore as StoreChecked
    from phaseline.use_cases.commands.maintenance import Purge, Released, Saved
    from phaseline.use_cases.commands.packages.enable import EnabledView
    from phaseline.use_cases.commands.packages.install import Installed
    from phaseline.use_cases.commands.packages.sync import Synced
    from phaseline.use_cases.commands.resources.apply import Applied
    from phaseline.use_cases.commands.resources.pause_phase import Paused
    from phaseline.use_cases.commands.resources.phase_decisions import Decided
    from phaseline.use_cases.commands.resources.set_target import Moved
    from phaseline.use_cases.commands.secrets import Rotated, SecretView
    from phaseline.use_cases.commands.snapshots import SnapshotView
    from phaseline.use_cases.commands.upload_blueprint import Packaged, Shelved, Stored, Uploaded
    from phaseline.use_cases.loading.record_files import EvaluatedRecord, FormattedFile
    from phaseline.use_cases.loading.type_catalog import TypesView
    from phaseline.use_cases.lookup.known_phases import ForgottenPhase
    from phaseline.use_cases.prepare.plan_preview import PlanPreview
    from phaseline.use_cases.prepare.stack_documents import AbandonedView
    from phaseline.use_cases.queries.breakpoints import StoppedInstance
    from phaseline.use_cases.queries.deployment_history import DeploymentHistory
    from phaseline.use_cases.queries.estate.dependencies import DependenciesView
    from phaseline.use_cases.queries.estate.group_runs import RunEvents, RunFailures, RunView
    from phaseline.use_cases.queries.estate.groups import GroupView
    from phaseline.use_cases.queries.estate.schedules import ScheduleHistory, SchedulePreview, ScheduleView
    from phaseline.use_cases.queries.events.events_and_logs import EventHistory, EventPages
    from phaseline.use_cases.queries.events.log_stream import LineStream
    from phaseline.use_cases.queries.events.log_tail import Tail
    from phaseline.use_cases.queries.events.timeline import Timeline
    from phaseline.use_cases.queries.hooks import HookList, HookView, Switched
    from phaseline.use_cases.queries.instance_waits import Waiting
    from phaseline.use_cases.queries.packages.listing import PackageView
    from phaseline.use_cases.queries.packages.task_order import TaskOrder
    from phaseline.use_cases.queries.phases import PhaseView, PluginView
    from phaseline.use_cases.queries.resources.export import Exported
    from phaseline.use_cases.queries.resources.history import ResourceHistory
    from phaseline.use_cases.queries.resources.resource_waits import Why
    from phaseline.use_cases.queries.resources.resources import ResourceList, ResourceView
    from phaseline.use_cases.queries.status import Status
    from phaseline.use_cases.queries.stuck import Stuck
    from phaseline.use_cases.tools.build_package import Built, Created
    from phaseline.use_cases.tools.doctor import Check
    from phaseline.use_cases.tools.hook_trial import HookTried
    from phaseline.use_cases.tools.plugin_checks import CheckedPlugins
    from phaseline.use_cases.tools.scaffold import NewProject
    from phaseline.use_cases.tools.timer_units import TimerUnits
    from phaseline.use_cases.tools.try_function import Attempt
    from phaseline.views.views import (
        DeploymentDetails,
        DeploymentView,
        ExecutionView,
        InstanceView,
        Line,
        Outputs,
        Page,
        Validated,
    )

T = TypeVar("T")
Kind = Literal["query", "command", "local"]
Store = Literal["needed", "made", "listed", "none", "examined"]
"""What an operation requires of the store.

"needed": an existing store. "made": a store, which is created if none exists. "listed": a store, or an empty result if
none exists. "none": no store. "examined": only the settings that name the store, which may be wrong.
"""


class ClientOperation(Generic[T]):
    """One row of the table. ``T``: the type of the answer.

    ``kind``: ``query`` (only reads), ``command`` (changes something), or ``local``: it is never called over a network,
    because for some ``reason`` it must run on the caller's own machine. ``target``: ``module:name`` of the use case.
    """

    __slots__ = ("kind", "name", "reason", "store", "target")

    def __init__(self, name: str, kind: Kind, target: str, store: Store = "needed", *, reason: str = "") -> None:
        """Store the columns of the row; nothing is imported yet."""
        self.name = name
        self.kind = kind
        self.target = target
        self.store = store
        self.reason = reason

    def __repr__(self) -> str:
        """Return the name of the operation."""
        return f"Operation({self.name!r})"


OWN_FILES = "it reads or writes files of the machine on which it is requested"
OWN_CODE = "it runs code of plugins of the machine on which it is requested"
OWN_PROCESS = "it concerns the process that requests it"

# fmt: off
STATUS: ClientOperation[Status] = ClientOperation("status", "query", "phaseline.use_cases.queries.status:status", "listed")
DOCTOR: ClientOperation[Sequence[Check]] = ClientOperation("doctor", "local", "phaseline.use_cases.tools.doctor:examine", "examined", reason=OWN_FILES)
INIT: ClientOperation[NewProject] = ClientOperation("init", "local", "phaseline.use_cases.tools.scaffold:start", "none", reason=OWN_FILES)

VALIDATE: ClientOperation[Validated] = ClientOperation("blueprints.validate", "query", "phaseline.use_cases.tools.validate_blueprint:validate")
PLAN_INSTALL: ClientOperation[PlanPreview] = ClientOperation("blueprints.plan", "query", "phaseline.use_cases.prepare.plan_preview:plan_install")
UPLOAD: ClientOperation[Uploaded] = ClientOperation("blueprints.upload", "command", "phaseline.use_cases.commands.upload_blueprint:upload", "made")
LIST_BLUEPRINTS: ClientOperation[Sequence[Shelved]] = ClientOperation("blueprints.list", "query", "phaseline.use_cases.commands.upload_blueprint:list_blueprints", "listed")
SHOW_BLUEPRINT: ClientOperation[Stored] = ClientOperation("blueprints.show", "query", "phaseline.use_cases.commands.upload_blueprint:show_blueprint")
DELETE_BLUEPRINT: ClientOperation[Sequence[StoredBlueprint]] = ClientOperation("blueprints.delete", "command", "phaseline.use_cases.commands.upload_blueprint:delete_blueprint")
PACKAGE_BLUEPRINT: ClientOperation[Packaged] = ClientOperation("blueprints.package", "local", "phaseline.use_cases.commands.upload_blueprint:package", reason=OWN_FILES)
MERGE: ClientOperation[dict[str, Any]] = ClientOperation("blueprints.merge", "query", "phaseline.use_cases.tools.blueprint_tools:planned")
DIFF: ClientOperation[Differences] = ClientOperation("blueprints.diff", "query", "phaseline.use_cases.tools.blueprint_tools:compare_blueprints")
EXPLAIN: ClientOperation[Explained] = ClientOperation("blueprints.explain", "query", "phaseline.use_cases.tools.blueprint_tools:explain_node")
SCHEMA: ClientOperation[dict[str, Any]] = ClientOperation("blueprints.schema", "local", "phaseline.use_cases.tools.blueprint_tools:blueprint_schema", "none", reason=OWN_PROCESS)
DRAW_BLUEPRINT: ClientOperation[Drawing] = ClientOperation("blueprints.graph", "query", "phaseline.use_cases.tools.diagrams:draw_blueprint")

LIST_DEPLOYMENTS: ClientOperation[Page[DeploymentView]] = ClientOperation("deployments.list", "query", "phaseline.use_cases.queries.deployments:list_deployments", "listed")
SHOW_DEPLOYMENT: ClientOperation[DeploymentDetails] = ClientOperation("deployments.show", "query", "phaseline.use_cases.queries.deployments:show_deployment")
FIND_DEPLOYMENT: ClientOperation[DeploymentDetails] = ClientOperation("deployments.find", "query", "phaseline.use_cases.queries.deployments:find_to_change")
DEPLOYMENT_HISTORY: ClientOperation[DeploymentHistory] = ClientOperation("deployments.history", "query", "phaseline.use_cases.queries.deployment_history:deployment_history")
DEPENDENCIES: ClientOperation[DependenciesView] = ClientOperation("deployments.dependencies", "query", "phaseline.use_cases.queries.estate.dependencies:dependencies")
OUTPUTS: ClientOperation[Outputs] = ClientOperation("deployments.compute", "query", "phaseline.use_cases.queries.deployments:outputs")
DRAW_DEPLOYMENT: ClientOperation[Drawing] = ClientOperation("deployments.graph", "query", "phaseline.use_cases.tools.diagrams:draw_deployment")
CREATE_DEPLOYMENT: ClientOperation[DeploymentDetails] = ClientOperation("deployments.create", "command", "phaseline.use_cases.commands.create_deployment:create", "made")
UPDATE: ClientOperation[ExecutionView] = ClientOperation("deployments.update", "command", "phaseline.use_cases.commands.update:update")
LABELS: ClientOperation[Labels] = ClientOperation("deployments.labels", "command", "phaseline.use_cases.commands.labels:change_labels")
DELETE_DEPLOYMENT: ClientOperation[DeploymentView] = ClientOperation("deployments.delete", "command", "phaseline.use_cases.commands.delete_deployment:delete_deployment")
EXPORT: ClientOperation[Mapping[str, Value]] = ClientOperation("deployments.export", "query", "phaseline.use_cases.prepare.stack_documents:export")
ADOPT: ClientOperation[ExecutionView] = ClientOperation("deployments.adopt", "command", "phaseline.use_cases.commands.adopt:adopt", "made")
ABANDON: ClientOperation[ExecutionView] = ClientOperation("deployments.abandon", "command", "phaseline.use_cases.commands.adopt:abandon")

INSTALL: ClientOperation[ExecutionView] = ClientOperation("executions.install", "command", "phaseline.use_cases.commands.install:install", "made")
UNINSTALL: ClientOperation[ExecutionView] = ClientOperation("executions.uninstall", "command", "phaseline.use_cases.commands.install:uninstall")
START: ClientOperation[ExecutionView] = ClientOperation("executions.start", "command", "phaseline.use_cases.commands.start_workflow:start")
RESUME: ClientOperation[ExecutionView] = ClientOperation("executions.resume", "command", "phaseline.use_cases.commands.control:resume")
WATCH: ClientOperation[ExecutionView] = ClientOperation("executions.watch", "command", "phaseline.use_cases.commands.control:watch")
RETRY: ClientOperation[ExecutionView] = ClientOperation("executions.retry", "command", "phaseline.use_cases.commands.control:retry")
COMPLETE: ClientOperation[ExecutionView] = ClientOperation("executions.complete", "command", "phaseline.use_cases.commands.control:complete")
APPROVE: ClientOperation[Approved] = ClientOperation("executions.approve", "command", "phaseline.use_cases.commands.approve:approve")
WAKE: ClientOperation[ExecutionView] = ClientOperation("executions.wake", "command", "phaseline.use_cases.commands.control:wake")
RERUN: ClientOperation[ExecutionView] = ClientOperation("executions.rerun", "command", "phaseline.use_cases.commands.control:rerun")
CANCEL: ClientOperation[ExecutionView] = ClientOperation("executions.cancel", "command", "phaseline.use_cases.commands.control:cancel")
LIST_EXECUTIONS: ClientOperation[Page[ExecutionView]] = ClientOperation("executions.list", "query", "phaseline.use_cases.queries.executions:list_executions", "listed")
SHOW_EXECUTION: ClientOperation[ExecutionView] = ClientOperation("executions.show", "query", "phaseline.use_cases.queries.executions:show_execution")
LOGS: ClientOperation[EventHistory] = ClientOperation("executions.logs", "query", "phaseline.use_cases.queries.events.events_and_logs:logs")
EVENTS: ClientOperation[EventHistory] = ClientOperation("executions.events", "query", "phaseline.use_cases.queries.events.events_and_logs:events")
EVENT_PAGES: ClientOperation[EventPages] = ClientOperation("executions.event_pages", "query", "phaseline.use_cases.queries.events.events_and_logs:event_pages")
STREAM_LOGS: ClientOperation[LineStream] = ClientOperation("executions.stream_logs", "query", "phaseline.use_cases.queries.events.log_stream:stream_logs")
STREAM_EVENTS: ClientOperation[LineStream] = ClientOperation("executions.stream_events", "query", "phaseline.use_cases.queries.events.log_stream:stream_events")
FOLLOW: ClientOperation[Iterator[Line]] = ClientOperation("executions.follow", "query", "phaseline.use_cases.queries.events.log_stream:lines_of")
TAIL: ClientOperation[Tail] = ClientOperation("executions.tail", "query", "phaseline.use_cases.queries.events.log_tail:Tail")
TIMELINE: ClientOperation[Timeline] = ClientOperation("executions.timeline", "query", "phaseline.use_cases.queries.events.timeline:timeline")
PURGE: ClientOperation[Purge] = ClientOperation("executions.purge", "command", "phaseline.use_cases.commands.maintenance:purge")
IS_BUILT_IN: ClientOperation[bool] = ClientOperation("executions.is_built_in", "local", "phaseline.use_cases.loading.plugin_workflows:is_built_in", "none", reason=OWN_PROCESS)

PLAN_WORKFLOW: ClientOperation[PlanPreview] = ClientOperation("plans.make", "command", "phaseline.use_cases.commands.keep_plan:plan_workflow")
PLAN_UPDATE: ClientOperation[PlanPreview] = ClientOperation("plans.update", "command", "phaseline.use_cases.commands.update:plan_update")
PLAN_UNINSTALL: ClientOperation[PlanPreview] = ClientOperation("plans.uninstall", "command", "phaseline.use_cases.commands.keep_plan:plan_uninstall")
PLAN_ADOPTION: ClientOperation[PlanPreview] = ClientOperation("plans.adopt", "query", "phaseline.use_cases.commands.adopt:plan_adoption")
LIST_PLANS: ClientOperation[Sequence[PlanView]] = ClientOperation("plans.list", "query", "phaseline.use_cases.commands.apply_plan:list_plans", "listed")
SHOW_PLAN: ClientOperation[PlanDetails] = ClientOperation("plans.show", "query", "phaseline.use_cases.commands.apply_plan:show_plan")
APPLY_PLAN: ClientOperation[ExecutionView] = ClientOperation("plans.apply", "command", "phaseline.use_cases.commands.apply_plan:apply_plan")
DELETE_PLAN: ClientOperation[PlanView] = ClientOperation("plans.delete", "command", "phaseline.use_cases.commands.apply_plan:delete_plan")

CREATE_SNAPSHOT: ClientOperation[ExecutionView] = ClientOperation("snapshots.create", "command", "phaseline.use_cases.commands.snapshots:create_snapshot")
LIST_SNAPSHOTS: ClientOperation[Sequence[SnapshotView]] = ClientOperation("snapshots.list", "query", "phaseline.use_cases.commands.snapshots:list_snapshots", "listed")
SHOW_SNAPSHOT: ClientOperation[Mapping[str, Value]] = ClientOperation("snapshots.show", "query", "phaseline.use_cases.commands.snapshots:show_snapshot")
RESTORE: ClientOperation[ExecutionView] = ClientOperation("snapshots.restore", "command", "phaseline.use_cases.commands.snapshots:restore")
PLAN_RESTORE: ClientOperation[PlanPreview] = ClientOperation("snapshots.plan_restore", "query", "phaseline.use_cases.commands.snapshots:plan_restore")
DELETE_SNAPSHOT: ClientOperation[ExecutionView] = ClientOperation("snapshots.delete", "command", "phaseline.use_cases.commands.snapshots:delete_snapshot")
LIST_ABANDONED: ClientOperation[Sequence[AbandonedView]] = ClientOperation("abandoned.list", "query", "phaseline.use_cases.prepare.stack_documents:list_abandoned", "listed")
SHOW_ABANDONED: ClientOperation[Mapping[str, Value]] = ClientOperation("abandoned.show", "query", "phaseline.use_cases.prepare.stack_documents:show_abandoned")

CREATE_GROUP: ClientOperation[GroupView] = ClientOperation("groups.create", "command", "phaseline.use_cases.commands.estate.groups:create_group", "made")
EXTEND_GROUP: ClientOperation[GroupView] = ClientOperation("groups.extend", "command", "phaseline.use_cases.commands.estate.groups:extend_group")
SHRINK_GROUP: ClientOperation[GroupView] = ClientOperation("groups.shrink", "command", "phaseline.use_cases.commands.estate.groups:shrink_group")
DELETE_GROUP: ClientOperation[GroupView] = ClientOperation("groups.delete", "command", "phaseline.use_cases.commands.estate.groups:delete_group")
LIST_GROUPS: ClientOperation[Sequence[GroupView]] = ClientOperation("groups.list", "query", "phaseline.use_cases.queries.estate.groups:list_groups", "listed")
SHOW_GROUP: ClientOperation[GroupView] = ClientOperation("groups.show", "query", "phaseline.use_cases.queries.estate.groups:show_group")

RUN_GROUP: ClientOperation[RunView] = ClientOperation("groups.run", "command", "phaseline.use_cases.commands.estate.group_runs:run_group")
LIST_RUNS: ClientOperation[Sequence[RunView]] = ClientOperation("groups.runs", "query", "phaseline.use_cases.queries.estate.group_runs:list_runs")
FOLLOW_RUN: ClientOperation[RunView] = ClientOperation("groups.follow", "command", "phaseline.use_cases.commands.estate.group_runs:follow_group")
RUN_EVENTS: ClientOperation[RunEvents] = ClientOperation("groups.events", "query", "phaseline.use_cases.queries.estate.group_runs:run_events")
RUN_FAILURES: ClientOperation[RunFailures] = ClientOperation("groups.failures", "query", "phaseline.use_cases.queries.estate.group_runs:run_failures")
CANCEL_RUN: ClientOperation[RunView] = ClientOperation("groups.cancel", "command", "phaseline.use_cases.commands.estate.group_runs:cancel_run")
RETRY_RUN: ClientOperation[RunView] = ClientOperation("groups.retry", "command", "phaseline.use_cases.commands.estate.group_runs:retry_run")
PAUSE_RUN: ClientOperation[RunView] = ClientOperation("groups.pause", "command", "phaseline.use_cases.commands.estate.group_runs:pause_run")
RESUME_RUN: ClientOperation[RunView] = ClientOperation("groups.resume", "command", "phaseline.use_cases.commands.estate.group_runs:resume_run")
SET_RUN: ClientOperation[RunView] = ClientOperation("groups.set", "command", "phaseline.use_cases.commands.estate.group_runs:set_run")

CREATE_SCHEDULE: ClientOperation[ScheduleView] = ClientOperation("schedules.create", "command", "phaseline.use_cases.commands.estate.schedules:create_schedule")
UPDATE_SCHEDULE: ClientOperation[ScheduleView] = ClientOperation("schedules.update", "command", "phaseline.use_cases.commands.estate.schedules:update_schedule")
ENABLE_SCHEDULE: ClientOperation[ScheduleView] = ClientOperation("schedules.enable", "command", "phaseline.use_cases.commands.estate.schedules:enable_schedule")
DISABLE_SCHEDULE: ClientOperation[ScheduleView] = ClientOperation("schedules.disable", "command", "phaseline.use_cases.commands.estate.schedules:disable_schedule")
DELETE_SCHEDULE: ClientOperation[ScheduleView] = ClientOperation("schedules.delete", "command", "phaseline.use_cases.commands.estate.schedules:delete_schedule")
LIST_SCHEDULES: ClientOperation[Sequence[ScheduleView]] = ClientOperation("schedules.list", "query", "phaseline.use_cases.queries.estate.schedules:list_schedules", "listed")
SHOW_SCHEDULE: ClientOperation[ScheduleView] = ClientOperation("schedules.show", "query", "phaseline.use_cases.queries.estate.schedules:show_schedule")
SCHEDULE_HISTORY: ClientOperation[ScheduleHistory] = ClientOperation("schedules.history", "query", "phaseline.use_cases.queries.estate.schedules:schedule_history")
SCHEDULES_TIMER: ClientOperation[TimerUnits] = ClientOperation("schedules.timer", "local", "phaseline.use_cases.tools.timer_units:timer_units", reason=OWN_PROCESS)
PREVIEW_SCHEDULE: ClientOperation[SchedulePreview] = ClientOperation("schedules.preview", "query", "phaseline.use_cases.queries.estate.schedules:preview_schedule")

LIST_BREAKPOINTS: ClientOperation[Sequence[StoppedInstance]] = ClientOperation("breakpoints.list", "query", "phaseline.use_cases.queries.breakpoints:list_breakpoints", "listed")
KEPT_BREAKPOINTS: ClientOperation[Sequence[Kept]] = ClientOperation("breakpoints.kept", "query", "phaseline.use_cases.commands.breakpoints:list_kept", "listed")
ADD_BREAKPOINTS: ClientOperation[Kept] = ClientOperation("breakpoints.add", "command", "phaseline.use_cases.commands.breakpoints:add")
REMOVE_BREAKPOINTS: ClientOperation[Kept] = ClientOperation("breakpoints.remove", "command", "phaseline.use_cases.commands.breakpoints:remove")
CLEAR_BREAKPOINTS: ClientOperation[Sequence[StoppedInstance]] = ClientOperation("breakpoints.clear", "command", "phaseline.use_cases.commands.breakpoints:clear")

LIST_INSTANCES: ClientOperation[Page[InstanceView]] = ClientOperation("instances.list", "query", "phaseline.use_cases.queries.instances:list_instances", "listed")
SHOW_INSTANCE: ClientOperation[InstanceView] = ClientOperation("instances.show", "query", "phaseline.use_cases.queries.instances:show_instance")
MARK_UNHEALTHY: ClientOperation[ExecutionView] = ClientOperation("instances.mark_unhealthy", "command", "phaseline.use_cases.commands.mark_unhealthy:mark_unhealthy")
RESTRICT: ClientOperation[ExecutionView] = ClientOperation("instances.restrict", "command", "phaseline.use_cases.commands.restrict:restrict")
SIGNAL: ClientOperation[ExecutionView] = ClientOperation("instances.signal", "command", "phaseline.use_cases.commands.signal:signal")
WHY: ClientOperation[Waiting] = ClientOperation("instances.why", "query", "phaseline.use_cases.queries.instance_waits:why")
STUCK: ClientOperation[Page[Stuck]] = ClientOperation("instances.stuck", "query", "phaseline.use_cases.queries.stuck:list_stuck", "listed")

APPLY_RESOURCES: ClientOperation[Applied] = ClientOperation("resources.apply", "command", "phaseline.use_cases.commands.resources.apply:apply", "made")
LIST_RESOURCES: ClientOperation[ResourceList] = ClientOperation("resources.list", "query", "phaseline.use_cases.queries.resources.resources:list_resources", "listed")
EXPORT_RESOURCES: ClientOperation[Exported] = ClientOperation("resources.export", "query", "phaseline.use_cases.queries.resources.export:export")
SHOW_RESOURCE: ClientOperation[ResourceView] = ClientOperation("resources.show", "query", "phaseline.use_cases.queries.resources.resources:show_resource")
RESOURCE_HISTORY: ClientOperation[ResourceHistory] = ClientOperation("resources.history", "query", "phaseline.use_cases.queries.resources.history:history")
RESOURCE_WHY: ClientOperation[Why] = ClientOperation("resources.why", "query", "phaseline.use_cases.queries.resources.resource_waits:why")
TARGET_RESOURCES: ClientOperation[Moved] = ClientOperation("resources.target", "command", "phaseline.use_cases.commands.resources.set_target:target")
RETRY_RESOURCES: ClientOperation[Decided] = ClientOperation("resources.retry", "command", "phaseline.use_cases.commands.resources.phase_decisions:retry")
COMPLETE_RESOURCES: ClientOperation[Decided] = ClientOperation("resources.complete", "command", "phaseline.use_cases.commands.resources.phase_decisions:complete")
RERUN_RESOURCES: ClientOperation[Decided] = ClientOperation("resources.rerun", "command", "phaseline.use_cases.commands.resources.phase_decisions:rerun")
WAKE_RESOURCES: ClientOperation[Decided] = ClientOperation("resources.wake", "command", "phaseline.use_cases.commands.resources.phase_decisions:wake")
SIGNAL_RESOURCES: ClientOperation[Decided] = ClientOperation("resources.signal", "command", "phaseline.use_cases.commands.resources.phase_decisions:signal")
CANCEL_RESOURCES: ClientOperation[Moved] = ClientOperation("resources.cancel", "command", "phaseline.use_cases.commands.resources.set_target:cancel")
DELETE_RESOURCES: ClientOperation[Moved] = ClientOperation("resources.delete", "command", "phaseline.use_cases.commands.resources.set_target:delete")

LIST_PHASES: ClientOperation[Sequence[PhaseView]] = ClientOperation("phases.list", "query", "phaseline.use_cases.queries.phases:list_phases", "listed")
SHOW_PHASE: ClientOperation[PhaseView] = ClientOperation("phases.show", "query", "phaseline.use_cases.queries.phases:show_phase")
PAUSE_PHASE: ClientOperation[Paused] = ClientOperation("phases.pause", "command", "phaseline.use_cases.commands.resources.pause_phase:pause")
UNPAUSE_PHASE: ClientOperation[Paused] = ClientOperation("phases.unpause", "command", "phaseline.use_cases.commands.resources.pause_phase:unpause")
FORGET_PHASE: ClientOperation[ForgottenPhase] = ClientOperation("phases.forget", "command", "phaseline.use_cases.lookup.known_phases:forget_phase")

LIST_PLUGINS: ClientOperation[list[PluginView]] = ClientOperation("plugins.list", "query", "phaseline.use_cases.queries.phases:list_plugins", "listed")
SHOW_PLUGIN: ClientOperation[PluginView] = ClientOperation("plugins.show", "query", "phaseline.use_cases.queries.phases:show_plugin")
SHOW_ANY_PLUGIN: ClientOperation[PackageView | PluginView] = ClientOperation("plugins.show_any", "query", "phaseline.use_cases.queries.plugins:show_any")
CHECK_PLUGINS: ClientOperation[CheckedPlugins] = ClientOperation("plugins.check", "local", "phaseline.use_cases.tools.plugin_checks:check_plugins", reason=OWN_FILES)
TRY_FUNCTION: ClientOperation[Attempt] = ClientOperation("plugins.try_function", "local", "phaseline.use_cases.tools.try_function:try_function", reason=OWN_CODE)
RELOAD_PLUGINS: ClientOperation[Reloaded] = ClientOperation("plugins.reload", "command", "phaseline.embedded.reload_plugins:reload_plugins")
LIST_PACKAGES: ClientOperation[Sequence[PackageView]] = ClientOperation("plugins.packages", "query", "phaseline.use_cases.queries.packages.listing:list_packages")
SHOW_PACKAGE: ClientOperation[PackageView] = ClientOperation("plugins.show_package", "query", "phaseline.use_cases.queries.packages.listing:show_package")
CREATE_PACKAGE: ClientOperation[Created] = ClientOperation("plugins.create", "local", "phaseline.use_cases.tools.build_package:create", "none", reason=OWN_FILES)
BUILD_PACKAGE: ClientOperation[Built] = ClientOperation("plugins.build", "local", "phaseline.use_cases.tools.build_package:build", "none", reason=OWN_FILES)
INSTALL_PACKAGE: ClientOperation[Installed] = ClientOperation("plugins.install", "command", "phaseline.use_cases.commands.packages.install:install", "made")
UPDATE_PACKAGE: ClientOperation[Installed] = ClientOperation("plugins.update", "command", "phaseline.use_cases.commands.packages.install:install")
REMOVE_PACKAGE: ClientOperation[PackageRow] = ClientOperation("plugins.remove", "command", "phaseline.use_cases.commands.packages.remove:remove")
REMOVE_ANY_PLUGIN: ClientOperation[PackageRow | TypesView] = ClientOperation("plugins.remove_any", "command", "phaseline.use_cases.commands.packages.remove:remove_any")
REGISTER_PACKAGE: ClientOperation[PackageRow] = ClientOperation("plugins.register", "command", "phaseline.use_cases.commands.packages.sync:register", "made")
SYNC_PACKAGES: ClientOperation[Synced] = ClientOperation("plugins.sync", "command", "phaseline.use_cases.commands.packages.sync:sync", "made")
TASK_ORDER: ClientOperation[TaskOrder] = ClientOperation("plugins.order", "query", "phaseline.use_cases.queries.packages.task_order:order")
ENABLED_PACKAGES: ClientOperation[Sequence[EnabledView]] = ClientOperation("plugins.enabled", "query", "phaseline.use_cases.commands.packages.enable:list_enabled")
ENABLE_PACKAGE: ClientOperation[EnabledView] = ClientOperation("plugins.enable", "command", "phaseline.use_cases.commands.packages.enable:enable")
DISABLE_PACKAGE: ClientOperation[EnabledView] = ClientOperation("plugins.disable", "command", "phaseline.use_cases.commands.packages.enable:disable")
INSTALL_DEFINITIONS: ClientOperation[Sequence[TypesView]] = ClientOperation("plugins.install_definitions", "command", "phaseline.use_cases.loading.type_catalog:install_definitions", "made")
REMOVE_DEFINITIONS: ClientOperation[TypesView] = ClientOperation("plugins.remove_definitions", "command", "phaseline.use_cases.loading.type_catalog:remove_definitions")

LIST_HOOKS: ClientOperation[HookList] = ClientOperation("hooks.list", "query", "phaseline.use_cases.queries.hooks:list_hooks", "listed")
SHOW_HOOKS: ClientOperation[Sequence[HookView]] = ClientOperation("hooks.show", "query", "phaseline.use_cases.queries.hooks:show_hooks")
DISABLE_HOOK: ClientOperation[Switched] = ClientOperation("hooks.disable", "command", "phaseline.use_cases.queries.hooks:disable_hook", "made")
ENABLE_HOOK: ClientOperation[Switched] = ClientOperation("hooks.enable", "command", "phaseline.use_cases.queries.hooks:enable_hook", "made")
RELOAD_HOOKS: ClientOperation[HooksReloaded] = ClientOperation("hooks.reload", "command", "phaseline.embedded.reload_plugins:reload_hooks")
TRY_HOOK: ClientOperation[HookTried] = ClientOperation("hooks.test", "local", "phaseline.use_cases.tools.hook_trial:try_hook", reason=OWN_CODE)

CREATE_SECRET: ClientOperation[SecretView] = ClientOperation("secrets.create", "command", "phaseline.use_cases.commands.secrets:create_secret", "made")
UPDATE_SECRET: ClientOperation[SecretView] = ClientOperation("secrets.update", "command", "phaseline.use_cases.commands.secrets:update_secret")
LIST_SECRETS: ClientOperation[Sequence[SecretView]] = ClientOperation("secrets.list", "query", "phaseline.use_cases.commands.secrets:list_secrets", "listed")
SHOW_SECRET: ClientOperation[SecretView] = ClientOperation("secrets.show", "query", "phaseline.use_cases.commands.secrets:show_secret")
DELETE_SECRET: ClientOperation[SecretView] = ClientOperation("secrets.delete", "command", "phaseline.use_cases.commands.secrets:delete_secret")
ROTATE_SECRETS: ClientOperation[Rotated] = ClientOperation("secrets.rotate", "command", "phaseline.use_cases.commands.secrets:rotate")

RUN_ENGINE: ClientOperation[EngineRun] = ClientOperation("engine.run", "local", "phaseline.embedded.engine_commands:run_engine", "made", reason=OWN_PROCESS)
ENGINE_STATUS: ClientOperation[EngineStatus] = ClientOperation("engine.status", "query", "phaseline.embedded.engine_commands:engine_status", "listed")
STOP_ENGINE: ClientOperation[StoppedEngine] = ClientOperation("engine.stop", "command", "phaseline.embedded.engine_commands:stop_engine")

CHECK_STORE: ClientOperation[StoreChecked] = ClientOperation("store.check", "query", "phaseline.use_cases.commands.maintenance:check")
BACK_UP_STORE: ClientOperation[Saved] = ClientOperation("store.backup", "command", "phaseline.use_cases.commands.maintenance:backup")
RESTORE_STORE: ClientOperation[RestoredStore] = ClientOperation("store.restore", "command", "phaseline.use_cases.commands.maintenance:restore")
GO_ON_AFTER_RESTORE: ClientOperation[Released] = ClientOperation("store.go_on", "command", "phaseline.use_cases.commands.maintenance:go_on")
COPY_STORE: ClientOperation[CopiedStore] = ClientOperation("store.copy", "local", "phaseline.use_cases.commands.maintenance:copy", reason=OWN_FILES)
UPGRADE_STORE: ClientOperation[StoreVersion] = ClientOperation("store.upgrade", "local", "phaseline.use_cases.commands.maintenance:upgrade", reason=OWN_FILES)
COMPACT_STORE: ClientOperation[Compacted] = ClientOperation("store.compact", "command", "phaseline.use_cases.commands.maintenance:compact")

FORMAT_RECORDS: ClientOperation[Sequence[FormattedFile]] = ClientOperation("records.format", "local", "phaseline.use_cases.loading.record_files:format_files", "none", reason=OWN_FILES)
EVALUATE_RECORDS: ClientOperation[Sequence[EvaluatedRecord]] = ClientOperation("records.eval", "local", "phaseline.use_cases.loading.record_files:evaluate", "none", reason=OWN_FILES)

OFFER_NAMES: ClientOperation[Sequence[str]] = ClientOperation("completion.names", "query", "phaseline.use_cases.tools.completion:offered_names")
# fmt: on

TABLE: Mapping[str, ClientOperation[Any]] = {
    each.name: each for each in list(globals().values()) if isinstance(each, ClientOperation)
}
"""{name: operation}, in the order of this module."""
