"""The table of operations: everything that a user can ask for, once.

An operation has a name (``noun.verb``, as programs say it), a kind, a target (the use case that answers it) and what it needs of the
store. It is typed by its answer, so ``self._call(RETRY, id=id)`` gives an ``ExecutionView``. The methods of the nouns
(``client.executions``, …) end in such a call; commands of the command line call these methods. What a server adds (right, cost, path)
becomes one more column here: a route is made from the same row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from phaseline.embedded.engine_commands import EngineRun, EngineStatus, Stopped
    from phaseline.embedded.reload_plugins import HooksReloaded, Reloaded
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.diff import Differences
    from phaseline.model.blueprint.provenance import Explained
    from phaseline.model.blueprint.stored_blueprints import StoredBlueprint
    from phaseline.model.packages.installed import PackageRow
    from phaseline.model.rows.maintenance import Compacted, Restored
    from phaseline.plan.preview.diagram import Drawing
    from phaseline.use_cases.commands.apply_plan import PlanDetails, PlanView
    from phaseline.use_cases.commands.approve import Approved
    from phaseline.use_cases.commands.breakpoints import Kept
    from phaseline.use_cases.commands.labels import Labels
    from phaseline.use_cases.commands.maintenance import Checked as StoreChecked
    from phaseline.use_cases.commands.maintenance import Purge, Released, Saved
    from phaseline.use_cases.commands.packages.enable import EnabledView
    from phaseline.use_cases.commands.packages.install import Installed
    from phaseline.use_cases.commands.packages.sync import Synced
    from phaseline.use_cases.commands.resources.apply import Applied
    from phaseline.use_cases.commands.resources.control import Decided
    from phaseline.use_cases.commands.resources.pause_phase import Paused
    from phaseline.use_cases.commands.resources.set_target import Moved
    from phaseline.use_cases.commands.secrets import Rotated, SecretView
    from phaseline.use_cases.commands.snapshots import SnapshotView
    from phaseline.use_cases.commands.upload_blueprint import Packaged, Shelved, Stored, Uploaded
    from phaseline.use_cases.loading.record_files import Evaluated, FormattedFile
    from phaseline.use_cases.loading.type_catalog import TypesView
    from phaseline.use_cases.lookup.known_phases import Forgotten
    from phaseline.use_cases.prepare.plan_preview import Planned
    from phaseline.use_cases.prepare.stack_documents import AbandonedView
    from phaseline.use_cases.queries.breakpoints import Stopped as StoppedInstance
    from phaseline.use_cases.queries.deployment_history import DeploymentHistory
    from phaseline.use_cases.queries.events.events_and_logs import EventHistory, EventPages
    from phaseline.use_cases.queries.events.log_stream import LineStream
    from phaseline.use_cases.queries.events.log_tail import Tail
    from phaseline.use_cases.queries.events.timeline import Timeline
    from phaseline.use_cases.queries.hooks import HookList, HookView, Switched
    from phaseline.use_cases.queries.packages.listing import PackageView
    from phaseline.use_cases.queries.packages.task_order import TaskOrder
    from phaseline.use_cases.queries.phases import PhaseView, PluginView
    from phaseline.use_cases.queries.resources.export import Exported
    from phaseline.use_cases.queries.resources.history import ResourceHistory
    from phaseline.use_cases.queries.resources.resources import ResourceList, ResourceView
    from phaseline.use_cases.queries.resources.wait_reasons import Why
    from phaseline.use_cases.queries.status import Status
    from phaseline.use_cases.queries.stuck import Stuck
    from phaseline.use_cases.queries.wait_reasons import Waiting
    from phaseline.use_cases.tools.build_package import Built, Created
    from phaseline.use_cases.tools.doctor import Check
    from phaseline.use_cases.tools.hook_trial import HookTried
    from phaseline.use_cases.tools.plugin_checks import Checked
    from phaseline.use_cases.tools.scaffold import Started
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
"""What an operation needs of the store: one that is there; one that may be made for it; one to list, empty where none was made
yet; none; or the settings that name it, which may be wrong themselves."""


class Operation(Generic[T]):
    """One row of the table; ``T``: the type of its answer.

    ``kind``: ``query`` (only looks), ``command`` (changes something), or ``local``: it works on files or the processor of the caller's
    own machine for a ``reason``, and never goes over a network. ``target``: ``module:name`` of the use case.
    """

    __slots__ = ("kind", "name", "reason", "store", "target")

    def __init__(self, name: str, kind: Kind, target: str, store: Store = "needed", *, reason: str = "") -> None:
        """Nothing is imported yet."""
        self.name = name
        self.kind = kind
        self.target = target
        self.store = store
        self.reason = reason

    def __repr__(self) -> str:
        """Its name."""
        return f"Operation({self.name!r})"


OWN_FILES = "it reads or writes files of the machine it is asked on"
OWN_CODE = "it runs code of plugins that lie on the machine it is asked on"
OWN_PROCESS = "it is about the process that asks"

# fmt: off
STATUS: Operation[Status] = Operation("status", "query", "phaseline.use_cases.queries.status:status", "listed")
DOCTOR: Operation[Sequence[Check]] = Operation("doctor", "local", "phaseline.use_cases.tools.doctor:examine", "examined", reason=OWN_FILES)
INIT: Operation[Started] = Operation("init", "local", "phaseline.use_cases.tools.scaffold:start", "none", reason=OWN_FILES)

VALIDATE: Operation[Validated] = Operation("blueprints.validate", "query", "phaseline.use_cases.tools.validate_blueprint:validate")
PLAN_INSTALL: Operation[Planned] = Operation("blueprints.plan", "query", "phaseline.use_cases.prepare.plan_preview:plan_install")
UPLOAD: Operation[Uploaded] = Operation("blueprints.upload", "command", "phaseline.use_cases.commands.upload_blueprint:upload", "made")
LIST_BLUEPRINTS: Operation[Sequence[Shelved]] = Operation("blueprints.list", "query", "phaseline.use_cases.commands.upload_blueprint:list_blueprints", "listed")
SHOW_BLUEPRINT: Operation[Stored] = Operation("blueprints.show", "query", "phaseline.use_cases.commands.upload_blueprint:show_blueprint")
DELETE_BLUEPRINT: Operation[Sequence[StoredBlueprint]] = Operation("blueprints.delete", "command", "phaseline.use_cases.commands.upload_blueprint:delete_blueprint")
PACKAGE_BLUEPRINT: Operation[Packaged] = Operation("blueprints.package", "local", "phaseline.use_cases.commands.upload_blueprint:package", reason=OWN_FILES)
MERGE: Operation[dict[str, Any]] = Operation("blueprints.merge", "query", "phaseline.use_cases.tools.merged_plan:planned")
DIFF: Operation[Differences] = Operation("blueprints.diff", "query", "phaseline.use_cases.tools.blueprint_tools:compare_blueprints")
EXPLAIN: Operation[Explained] = Operation("blueprints.explain", "query", "phaseline.use_cases.tools.blueprint_tools:explain_node")
SCHEMA: Operation[dict[str, Any]] = Operation("blueprints.schema", "local", "phaseline.use_cases.tools.blueprint_tools:blueprint_schema", "none", reason=OWN_PROCESS)
DRAW_BLUEPRINT: Operation[Drawing] = Operation("blueprints.graph", "query", "phaseline.use_cases.tools.diagrams:draw_blueprint")

LIST_DEPLOYMENTS: Operation[Page[DeploymentView]] = Operation("deployments.list", "query", "phaseline.use_cases.queries.deployments:list_deployments", "listed")
SHOW_DEPLOYMENT: Operation[DeploymentDetails] = Operation("deployments.show", "query", "phaseline.use_cases.queries.deployments:show_deployment")
FIND_DEPLOYMENT: Operation[DeploymentDetails] = Operation("deployments.find", "query", "phaseline.use_cases.queries.deployments:find_to_change")
DEPLOYMENT_HISTORY: Operation[DeploymentHistory] = Operation("deployments.history", "query", "phaseline.use_cases.queries.deployment_history:deployment_history")
OUTPUTS: Operation[Outputs] = Operation("deployments.compute", "query", "phaseline.use_cases.queries.deployments:outputs")
DRAW_DEPLOYMENT: Operation[Drawing] = Operation("deployments.graph", "query", "phaseline.use_cases.tools.diagrams:draw_deployment")
CREATE_DEPLOYMENT: Operation[DeploymentDetails] = Operation("deployments.create", "command", "phaseline.use_cases.commands.create_deployment:create", "made")
UPDATE: Operation[ExecutionView] = Operation("deployments.update", "command", "phaseline.use_cases.commands.update:update")
LABELS: Operation[Labels] = Operation("deployments.labels", "command", "phaseline.use_cases.commands.labels:change_labels")
DELETE_DEPLOYMENT: Operation[DeploymentView] = Operation("deployments.delete", "command", "phaseline.use_cases.commands.delete_deployment:delete_deployment")
EXPORT: Operation[Mapping[str, Value]] = Operation("deployments.export", "query", "phaseline.use_cases.prepare.stack_documents:export")
ADOPT: Operation[ExecutionView] = Operation("deployments.adopt", "command", "phaseline.use_cases.commands.adopt:adopt", "made")
ABANDON: Operation[ExecutionView] = Operation("deployments.abandon", "command", "phaseline.use_cases.commands.adopt:abandon")

INSTALL: Operation[ExecutionView] = Operation("executions.install", "command", "phaseline.use_cases.commands.install:install", "made")
UNINSTALL: Operation[ExecutionView] = Operation("executions.uninstall", "command", "phaseline.use_cases.commands.install:uninstall")
START: Operation[ExecutionView] = Operation("executions.start", "command", "phaseline.use_cases.commands.start_workflow:start")
RESUME: Operation[ExecutionView] = Operation("executions.resume", "command", "phaseline.use_cases.commands.control:resume")
WATCH: Operation[ExecutionView] = Operation("executions.watch", "command", "phaseline.use_cases.commands.control:follow")
RETRY: Operation[ExecutionView] = Operation("executions.retry", "command", "phaseline.use_cases.commands.control:retry")
COMPLETE: Operation[ExecutionView] = Operation("executions.complete", "command", "phaseline.use_cases.commands.control:complete")
APPROVE: Operation[Approved] = Operation("executions.approve", "command", "phaseline.use_cases.commands.approve:approve")
WAKE: Operation[ExecutionView] = Operation("executions.wake", "command", "phaseline.use_cases.commands.control:wake")
RERUN: Operation[ExecutionView] = Operation("executions.rerun", "command", "phaseline.use_cases.commands.control:rerun")
CANCEL: Operation[ExecutionView] = Operation("executions.cancel", "command", "phaseline.use_cases.commands.control:cancel")
LIST_EXECUTIONS: Operation[Page[ExecutionView]] = Operation("executions.list", "query", "phaseline.use_cases.queries.executions:list_executions", "listed")
SHOW_EXECUTION: Operation[ExecutionView] = Operation("executions.show", "query", "phaseline.use_cases.queries.executions:show_execution")
LOGS: Operation[EventHistory] = Operation("executions.logs", "query", "phaseline.use_cases.queries.events.events_and_logs:logs")
EVENTS: Operation[EventHistory] = Operation("executions.events", "query", "phaseline.use_cases.queries.events.events_and_logs:events")
EVENT_PAGES: Operation[EventPages] = Operation("executions.event_pages", "query", "phaseline.use_cases.queries.events.events_and_logs:event_pages")
STREAM_LOGS: Operation[LineStream] = Operation("executions.stream_logs", "query", "phaseline.use_cases.queries.events.log_stream:stream_logs")
STREAM_EVENTS: Operation[LineStream] = Operation("executions.stream_events", "query", "phaseline.use_cases.queries.events.log_stream:stream_events")
FOLLOW: Operation[Iterator[Line]] = Operation("executions.follow", "query", "phaseline.use_cases.queries.events.log_stream:lines_of")
TAIL: Operation[Tail] = Operation("executions.tail", "query", "phaseline.use_cases.queries.events.log_tail:Tail")
TIMELINE: Operation[Timeline] = Operation("executions.timeline", "query", "phaseline.use_cases.queries.events.timeline:timeline")
PURGE: Operation[Purge] = Operation("executions.purge", "command", "phaseline.use_cases.commands.maintenance:purge")
IS_BUILT_IN: Operation[bool] = Operation("executions.is_built_in", "local", "phaseline.use_cases.loading.plugin_workflows:is_built_in", "none", reason=OWN_PROCESS)

PLAN_WORKFLOW: Operation[Planned] = Operation("plans.make", "command", "phaseline.use_cases.commands.keep_plan:plan_workflow")
PLAN_UPDATE: Operation[Planned] = Operation("plans.update", "command", "phaseline.use_cases.commands.update:plan_update")
PLAN_UNINSTALL: Operation[Planned] = Operation("plans.uninstall", "command", "phaseline.use_cases.commands.keep_plan:plan_uninstall")
PLAN_ADOPTION: Operation[Planned] = Operation("plans.adopt", "query", "phaseline.use_cases.commands.adopt:plan_adoption")
LIST_PLANS: Operation[Sequence[PlanView]] = Operation("plans.list", "query", "phaseline.use_cases.commands.apply_plan:list_plans", "listed")
SHOW_PLAN: Operation[PlanDetails] = Operation("plans.show", "query", "phaseline.use_cases.commands.apply_plan:show_plan")
APPLY_PLAN: Operation[ExecutionView] = Operation("plans.apply", "command", "phaseline.use_cases.commands.apply_plan:apply_plan")
DELETE_PLAN: Operation[PlanView] = Operation("plans.delete", "command", "phaseline.use_cases.commands.apply_plan:delete_plan")

CREATE_SNAPSHOT: Operation[ExecutionView] = Operation("snapshots.create", "command", "phaseline.use_cases.commands.snapshots:create_snapshot")
LIST_SNAPSHOTS: Operation[Sequence[SnapshotView]] = Operation("snapshots.list", "query", "phaseline.use_cases.commands.snapshots:list_snapshots", "listed")
SHOW_SNAPSHOT: Operation[Mapping[str, Value]] = Operation("snapshots.show", "query", "phaseline.use_cases.commands.snapshots:show_snapshot")
RESTORE: Operation[ExecutionView] = Operation("snapshots.restore", "command", "phaseline.use_cases.commands.snapshots:restore")
PLAN_RESTORE: Operation[Planned] = Operation("snapshots.plan_restore", "query", "phaseline.use_cases.commands.snapshots:plan_restore")
DELETE_SNAPSHOT: Operation[ExecutionView] = Operation("snapshots.delete", "command", "phaseline.use_cases.commands.snapshots:delete_snapshot")
LIST_ABANDONED: Operation[Sequence[AbandonedView]] = Operation("abandoned.list", "query", "phaseline.use_cases.prepare.stack_documents:list_abandoned", "listed")
SHOW_ABANDONED: Operation[Mapping[str, Value]] = Operation("abandoned.show", "query", "phaseline.use_cases.prepare.stack_documents:show_abandoned")

LIST_BREAKPOINTS: Operation[Sequence[StoppedInstance]] = Operation("breakpoints.list", "query", "phaseline.use_cases.queries.breakpoints:list_breakpoints", "listed")
KEPT_BREAKPOINTS: Operation[Sequence[Kept]] = Operation("breakpoints.kept", "query", "phaseline.use_cases.commands.breakpoints:list_kept", "listed")
ADD_BREAKPOINTS: Operation[Kept] = Operation("breakpoints.add", "command", "phaseline.use_cases.commands.breakpoints:add")
REMOVE_BREAKPOINTS: Operation[Kept] = Operation("breakpoints.remove", "command", "phaseline.use_cases.commands.breakpoints:remove")
CLEAR_BREAKPOINTS: Operation[Sequence[StoppedInstance]] = Operation("breakpoints.clear", "command", "phaseline.use_cases.commands.breakpoints:clear")

LIST_INSTANCES: Operation[Page[InstanceView]] = Operation("instances.list", "query", "phaseline.use_cases.queries.instances:list_instances", "listed")
SHOW_INSTANCE: Operation[InstanceView] = Operation("instances.show", "query", "phaseline.use_cases.queries.instances:show_instance")
MARK_UNHEALTHY: Operation[ExecutionView] = Operation("instances.mark_unhealthy", "command", "phaseline.use_cases.commands.mark_unhealthy:mark_unhealthy")
RESTRICT: Operation[ExecutionView] = Operation("instances.restrict", "command", "phaseline.use_cases.commands.restrict:restrict")
SIGNAL: Operation[ExecutionView] = Operation("instances.signal", "command", "phaseline.use_cases.commands.signal:signal")
WHY: Operation[Waiting] = Operation("instances.why", "query", "phaseline.use_cases.queries.wait_reasons:why")
STUCK: Operation[Page[Stuck]] = Operation("instances.stuck", "query", "phaseline.use_cases.queries.stuck:list_stuck", "listed")

APPLY_RESOURCES: Operation[Applied] = Operation("resources.apply", "command", "phaseline.use_cases.commands.resources.apply:apply", "made")
LIST_RESOURCES: Operation[ResourceList] = Operation("resources.list", "query", "phaseline.use_cases.queries.resources.resources:list_resources", "listed")
EXPORT_RESOURCES: Operation[Exported] = Operation("resources.export", "query", "phaseline.use_cases.queries.resources.export:export")
SHOW_RESOURCE: Operation[ResourceView] = Operation("resources.show", "query", "phaseline.use_cases.queries.resources.resources:show_resource")
RESOURCE_HISTORY: Operation[ResourceHistory] = Operation("resources.history", "query", "phaseline.use_cases.queries.resources.history:history")
RESOURCE_WHY: Operation[Why] = Operation("resources.why", "query", "phaseline.use_cases.queries.resources.wait_reasons:why")
TARGET_RESOURCES: Operation[Moved] = Operation("resources.target", "command", "phaseline.use_cases.commands.resources.set_target:target")
RETRY_RESOURCES: Operation[Decided] = Operation("resources.retry", "command", "phaseline.use_cases.commands.resources.control:retry")
COMPLETE_RESOURCES: Operation[Decided] = Operation("resources.complete", "command", "phaseline.use_cases.commands.resources.control:complete")
RERUN_RESOURCES: Operation[Decided] = Operation("resources.rerun", "command", "phaseline.use_cases.commands.resources.control:rerun")
WAKE_RESOURCES: Operation[Decided] = Operation("resources.wake", "command", "phaseline.use_cases.commands.resources.control:wake")
SIGNAL_RESOURCES: Operation[Decided] = Operation("resources.signal", "command", "phaseline.use_cases.commands.resources.control:signal")
CANCEL_RESOURCES: Operation[Moved] = Operation("resources.cancel", "command", "phaseline.use_cases.commands.resources.set_target:cancel")
DELETE_RESOURCES: Operation[Moved] = Operation("resources.delete", "command", "phaseline.use_cases.commands.resources.set_target:delete")

LIST_PHASES: Operation[Sequence[PhaseView]] = Operation("phases.list", "query", "phaseline.use_cases.queries.phases:list_phases", "listed")
SHOW_PHASE: Operation[PhaseView] = Operation("phases.show", "query", "phaseline.use_cases.queries.phases:show_phase")
PAUSE_PHASE: Operation[Paused] = Operation("phases.pause", "command", "phaseline.use_cases.commands.resources.pause_phase:pause")
UNPAUSE_PHASE: Operation[Paused] = Operation("phases.unpause", "command", "phaseline.use_cases.commands.resources.pause_phase:unpause")
FORGET_PHASE: Operation[Forgotten] = Operation("phases.forget", "command", "phaseline.use_cases.lookup.known_phases:forget_phase")

LIST_PLUGINS: Operation[list[PluginView]] = Operation("plugins.list", "query", "phaseline.use_cases.queries.phases:list_plugins", "listed")
SHOW_PLUGIN: Operation[PluginView] = Operation("plugins.show", "query", "phaseline.use_cases.queries.phases:show_plugin")
SHOW_ANY_PLUGIN: Operation[PackageView | PluginView] = Operation("plugins.show_any", "query", "phaseline.use_cases.queries.plugins:show_any")
CHECK_PLUGINS: Operation[Checked] = Operation("plugins.check", "local", "phaseline.use_cases.tools.plugin_checks:check_plugins", reason=OWN_FILES)
TRY_FUNCTION: Operation[Attempt] = Operation("plugins.try_function", "local", "phaseline.use_cases.tools.try_function:try_function", reason=OWN_CODE)
RELOAD_PLUGINS: Operation[Reloaded] = Operation("plugins.reload", "command", "phaseline.embedded.reload_plugins:reload_plugins")
LIST_PACKAGES: Operation[Sequence[PackageView]] = Operation("plugins.packages", "query", "phaseline.use_cases.queries.packages.listing:list_packages")
SHOW_PACKAGE: Operation[PackageView] = Operation("plugins.show_package", "query", "phaseline.use_cases.queries.packages.listing:show_package")
CREATE_PACKAGE: Operation[Created] = Operation("plugins.create", "local", "phaseline.use_cases.tools.build_package:create", "none", reason=OWN_FILES)
BUILD_PACKAGE: Operation[Built] = Operation("plugins.build", "local", "phaseline.use_cases.tools.build_package:build", "none", reason=OWN_FILES)
INSTALL_PACKAGE: Operation[Installed] = Operation("plugins.install", "command", "phaseline.use_cases.commands.packages.install:install", "made")
UPDATE_PACKAGE: Operation[Installed] = Operation("plugins.update", "command", "phaseline.use_cases.commands.packages.install:install")
REMOVE_PACKAGE: Operation[PackageRow] = Operation("plugins.remove", "command", "phaseline.use_cases.commands.packages.remove:remove")
REMOVE_ANY_PLUGIN: Operation[PackageRow | TypesView] = Operation("plugins.remove_any", "command", "phaseline.use_cases.commands.packages.remove:remove_any")
REGISTER_PACKAGE: Operation[PackageRow] = Operation("plugins.register", "command", "phaseline.use_cases.commands.packages.sync:register", "made")
SYNC_PACKAGES: Operation[Synced] = Operation("plugins.sync", "command", "phaseline.use_cases.commands.packages.sync:sync", "made")
TASK_ORDER: Operation[TaskOrder] = Operation("plugins.order", "query", "phaseline.use_cases.queries.packages.task_order:order")
ENABLED_PACKAGES: Operation[Sequence[EnabledView]] = Operation("plugins.enabled", "query", "phaseline.use_cases.commands.packages.enable:list_enabled")
ENABLE_PACKAGE: Operation[EnabledView] = Operation("plugins.enable", "command", "phaseline.use_cases.commands.packages.enable:enable")
DISABLE_PACKAGE: Operation[EnabledView] = Operation("plugins.disable", "command", "phaseline.use_cases.commands.packages.enable:disable")
INSTALL_DEFINITIONS: Operation[Sequence[TypesView]] = Operation("plugins.install_definitions", "command", "phaseline.use_cases.loading.type_catalog:install_definitions", "made")
REMOVE_DEFINITIONS: Operation[TypesView] = Operation("plugins.remove_definitions", "command", "phaseline.use_cases.loading.type_catalog:remove_definitions")

LIST_HOOKS: Operation[HookList] = Operation("hooks.list", "query", "phaseline.use_cases.queries.hooks:list_hooks", "listed")
SHOW_HOOKS: Operation[Sequence[HookView]] = Operation("hooks.show", "query", "phaseline.use_cases.queries.hooks:show_hooks")
DISABLE_HOOK: Operation[Switched] = Operation("hooks.disable", "command", "phaseline.use_cases.queries.hooks:disable_hook", "made")
ENABLE_HOOK: Operation[Switched] = Operation("hooks.enable", "command", "phaseline.use_cases.queries.hooks:enable_hook", "made")
RELOAD_HOOKS: Operation[HooksReloaded] = Operation("hooks.reload", "command", "phaseline.embedded.reload_plugins:reload_hooks")
TRY_HOOK: Operation[HookTried] = Operation("hooks.test", "local", "phaseline.use_cases.tools.hook_trial:try_hook", reason=OWN_CODE)

CREATE_SECRET: Operation[SecretView] = Operation("secrets.create", "command", "phaseline.use_cases.commands.secrets:create_secret", "made")
UPDATE_SECRET: Operation[SecretView] = Operation("secrets.update", "command", "phaseline.use_cases.commands.secrets:update_secret")
LIST_SECRETS: Operation[Sequence[SecretView]] = Operation("secrets.list", "query", "phaseline.use_cases.commands.secrets:list_secrets", "listed")
SHOW_SECRET: Operation[SecretView] = Operation("secrets.show", "query", "phaseline.use_cases.commands.secrets:show_secret")
DELETE_SECRET: Operation[SecretView] = Operation("secrets.delete", "command", "phaseline.use_cases.commands.secrets:delete_secret")
ROTATE_SECRETS: Operation[Rotated] = Operation("secrets.rotate", "command", "phaseline.use_cases.commands.secrets:rotate")

RUN_ENGINE: Operation[EngineRun] = Operation("engine.run", "local", "phaseline.embedded.engine_commands:run_engine", "made", reason=OWN_PROCESS)
ENGINE_STATUS: Operation[EngineStatus] = Operation("engine.status", "query", "phaseline.embedded.engine_commands:engine_status", "listed")
STOP_ENGINE: Operation[Stopped] = Operation("engine.stop", "command", "phaseline.embedded.engine_commands:stop_engine")

CHECK_STORE: Operation[StoreChecked] = Operation("store.check", "query", "phaseline.use_cases.commands.maintenance:check")
BACK_UP_STORE: Operation[Saved] = Operation("store.backup", "command", "phaseline.use_cases.commands.maintenance:backup")
RESTORE_STORE: Operation[Restored] = Operation("store.restore", "command", "phaseline.use_cases.commands.maintenance:restore")
GO_ON_AFTER_RESTORE: Operation[Released] = Operation("store.go_on", "command", "phaseline.use_cases.commands.maintenance:go_on")
COMPACT_STORE: Operation[Compacted] = Operation("store.compact", "command", "phaseline.use_cases.commands.maintenance:compact")

FORMAT_RECORDS: Operation[Sequence[FormattedFile]] = Operation("records.format", "local", "phaseline.use_cases.loading.record_files:format_files", "none", reason=OWN_FILES)
EVALUATE_RECORDS: Operation[Sequence[Evaluated]] = Operation("records.eval", "local", "phaseline.use_cases.loading.record_files:evaluate", "none", reason=OWN_FILES)

OFFER_NAMES: Operation[Sequence[str]] = Operation("completion.names", "query", "phaseline.use_cases.tools.completion:offered_names")
# fmt: on

TABLE: Mapping[str, Operation[Any]] = {
    each.name: each for each in list(globals().values()) if isinstance(each, Operation)
}
"""{name: operation}, in the order of this page."""
