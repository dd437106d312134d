"""The use cases by noun, for Python programs: ``phaseline.open()`` gives them over one store.

Nothing is decided here and nothing is hidden: each method is the use case of that name, imported when it is called.
All that comes back are the frozen values of ``views.views`` and of the use case's own module; all that is wrong
with a request is raised as ``ProblemsError``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

from phaseline.client.argument_checks import checked, looking
from phaseline.client.breakpoints import Breakpoints
from phaseline.client.execution_options import manner_of, order_of, update_of
from phaseline.client.executions import Executions
from phaseline.client.hooks import Hooks
from phaseline.client.plans import Plans
from phaseline.client.plugins import Phases, Plugins
from phaseline.client.resources import Resources
from phaseline.client.secrets import Secrets
from phaseline.client.snapshots import Abandoned, Snapshots

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from phaseline.app.app_context import Workplace
    from phaseline.app.watcher import Watcher
    from phaseline.embedded.engine_commands import EngineRun, EngineStatus, Stopped
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.stored_blueprints import StoredBlueprint
    from phaseline.model.execution.execution import IfBusy
    from phaseline.model.rows.orders import RequestId
    from phaseline.use_cases.commands.labels import Labels
    from phaseline.use_cases.commands.upload_blueprint import Packaged, Shelved, Stored, Uploaded
    from phaseline.use_cases.prepare.options import OnFailure
    from phaseline.use_cases.prepare.plan_preview import Planned
    from phaseline.use_cases.queries.deployment_history import DeploymentHistory
    from phaseline.use_cases.queries.status import Status
    from phaseline.use_cases.queries.stuck import Stuck
    from phaseline.use_cases.queries.wait_reasons import Waiting
    from phaseline.views.views import (
        DeploymentDetails,
        DeploymentView,
        ExecutionView,
        InstanceView,
        Outputs,
        Page,
        Validated,
    )


@looking("open")
def open_phaseline(
    url: str | None = None,
    *,
    plugins: Sequence[str] = (),
    config: str | None = None,
    settings: Mapping[str, str] | None = None,
    background: bool = False,
) -> Phaseline:
    """Everything that a user can do, over the store at ``url`` (None: as the settings say; ``memory:``: nothing is kept).

    ``plugins``: folders with modules of plugins, searched first. ``config``: a settings file. ``settings``: {name: text}
    as on the page about settings, such as ``{"run.threads": "4"}``. ``background``: whether a background engine is
    started for what is open when a call with ``detach`` returns. Close it, or use it as a context manager.

    Raises: ``ProblemsError`` with everything that is wrong with the settings. The store is opened by its first use.
    """
    import sys
    from dataclasses import replace
    from pathlib import Path

    from phaseline.app.settings import load_settings
    from phaseline.embedded.workplace import make_workplace

    given = {**(settings or {}), **({"store.url": url} if url is not None else {})}
    loaded = load_settings(config=config, given=given)
    folders = tuple(str(Path(folder).absolute()) for folder in plugins)
    loaded = replace(loaded, plugin_folders=(*folders, *loaded.plugin_folders))
    program = Path(sys.argv[0]).name or "python"
    return Phaseline(make_workplace(loaded, program, background=background))


class Phaseline:
    """The use cases over one store, by noun.

    ``blueprints``, ``deployments``, ``executions``, ``plans``, ``breakpoints``, ``instances``, ``resources``, ``plugins``, ``phases``, ``hooks``,
    ``secrets``, ``snapshots``, ``abandoned``, ``engine``.
    """

    def __init__(self, place: Workplace) -> None:
        """``place`` is closed with it. Programs call ``phaseline.open``."""
        self.place = place
        self.blueprints = Blueprints(place)
        self.deployments = Deployments(place)
        self.executions = Executions(place)
        self.plans = Plans(place)
        self.breakpoints = Breakpoints(place)
        self.instances = Instances(place)
        self.plugins = Plugins(place)
        self.phases = Phases(place)
        self.resources = Resources(place)
        self.hooks = Hooks(place)
        self.secrets = Secrets(place)
        self.snapshots = Snapshots(place)
        self.abandoned = Abandoned(place)
        self.engine = EngineDoor(place)

    def status(self, name: str | None = None) -> Status:
        """How everything in the store stands at this moment; with the name of a deployment: how that one stands."""
        from phaseline.use_cases.queries.status import status

        return status(self.place, name)

    def request_id(self, id: str) -> AbstractContextManager[RequestId]:
        """Have an order that this thread gives within carried out once, however often it is given under this id.

        Given again, it returns the answer of the first, and this yields ``is_repeated``. Raises: PL-C094, within PL-C097 for another order.
        """
        return self.place.requesting(id)

    def close(self) -> None:
        """Let go of the store."""
        self.place.close()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the store."""
        self.close()


class Noun:
    """What can be done with one kind of thing."""

    def __init__(self, place: Workplace) -> None:
        """Over this store."""
        self._place = place


@checked("blueprints")
class Blueprints(Noun):
    """What can be known before anything is stored, and blueprints that are kept in the store.

    ``file``: a file, or the name of a stored blueprint: ``shop``, ``shop@2``.
    """

    def upload(
        self, path: str, id: str | None = None, *, main: str | None = None, plugins: Sequence[str] = ()
    ) -> Uploaded:
        """Store all files of a blueprint's folder as the next version of an id; equal ones change nothing."""
        from phaseline.use_cases.commands.upload_blueprint import upload

        return upload(self._place, path, id, main_file=main, plugin_folders=plugins)

    def list(self) -> Sequence[Shelved]:
        """All stored blueprints by id, each with its newest version."""
        from phaseline.use_cases.commands.upload_blueprint import list_blueprints

        return list_blueprints(self._place)

    def show(self, name: str) -> Stored:
        """One version with its files, and who needs it."""
        from phaseline.use_cases.commands.upload_blueprint import show_blueprint

        return show_blueprint(self._place, name)

    def delete(self, name: str) -> Sequence[StoredBlueprint]:
        """Forget all versions of an id, or one of them."""
        from phaseline.use_cases.commands.upload_blueprint import delete_blueprint

        return delete_blueprint(self._place, name)

    def package(self, file: str, output: str | None = None) -> Packaged:
        """Write all files of a blueprint into an archive: .zip, .tar.gz or .tgz."""
        from phaseline.use_cases.commands.upload_blueprint import package

        return package(self._place, file, output)

    def validate(self, file: str, *, plugins: Sequence[str] = (), open_types: bool = False) -> Validated:
        """What is in the blueprint, and warnings. Raises ``ProblemsError`` with everything that is wrong with it.

        ``open_types``: types of definition files that are not available are taken as open, with a warning each.
        """
        from phaseline.use_cases.tools.validate_blueprint import validate

        return validate(self._place, file, plugin_folders=plugins, open_types=open_types)

    def plan(
        self,
        file: str,
        deployment: str | None = None,
        *,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] = (),
        labels: Sequence[str] = (),
        yes_many: bool = False,
        open_types: bool = False,
        breakpoints: Sequence[str] = (),
        break_timeout: str | None = None,
    ) -> Planned:
        """What installing it would do; no code of the blueprint or of a plugin is run.

        ``deployment``: whether this name is free is looked at. ``open_types``: as of ``validate``; the rest as of ``executions.install``.
        """
        from phaseline.use_cases.prepare.plan_preview import plan_install

        order = order_of(file, deployment, inputs, plugins, labels, yes_many=yes_many)
        manner = manner_of(breakpoints=breakpoints, break_timeout=break_timeout)
        return plan_install(self._place, order, open_types=open_types, manner=manner)


@checked("deployments")
class Deployments(Noun):
    """Blueprints with inputs, under a name."""

    def list(
        self, *, status: str | None = None, text: str = "", labels: Sequence[str] = (), limit: int | None = None
    ) -> Page[DeploymentView]:
        """Deployments by name, with their instances by state and their latest execution; ``labels``: those they have."""
        from phaseline.use_cases.queries.deployments import list_deployments

        return list_deployments(self._place, status=status, text=text, labels=labels, limit=limit)

    def labels(self, name: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Labels:
        """Its labels, after adding ``KEY=VALUE`` and removing ``KEY=VALUE`` or ``KEY``."""
        from phaseline.use_cases.commands.labels import change_labels

        return change_labels(self._place, name, add=add, remove=remove)

    def history(self, name: str, *, limit: int | None = None) -> DeploymentHistory:
        """What was run in it, by whom, and what people decided on the way."""
        from phaseline.use_cases.queries.deployment_history import deployment_history

        return deployment_history(self._place, name, limit=limit)

    def show(self, name: str) -> DeploymentDetails:
        """One deployment with its inputs and nodes and the folders of its code."""
        from phaseline.use_cases.queries.deployments import show_deployment

        return show_deployment(self._place, name)

    def create(
        self,
        file: str,
        deployment: str | None = None,
        *,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] = (),
        labels: Sequence[str] = (),
        yes_many: bool = False,
        runtime_only_evaluation: bool = False,
    ) -> DeploymentDetails:
        """A deployment of a blueprint file (``deployment`` None: named as its folder) with all its instances; nothing is called.

        ``labels``: as ``KEY=VALUE``, beside those of the blueprint. The other words as of ``executions.install``.
        """
        from phaseline.use_cases.commands.create_deployment import create

        order = order_of(
            file, deployment, inputs, plugins, labels, yes_many=yes_many, runtime_only=runtime_only_evaluation
        )
        return create(self._place, order)

    def update(
        self,
        name: str,
        file: str,
        *,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] | None = None,
        parameters: Mapping[str, Value] | None = None,
        runtime_only_evaluation: bool = False,
        workflow_id: str | None = None,
        reinstall: Sequence[str] = (),
        allow_replace: bool = False,
        skip_uninstall: bool = False,
        skip_install: bool = False,
        skip_drift_check: bool = False,
        skip_heal: bool = False,
        skip_reinstall: bool = False,
        force_reinstall: bool = False,
        ignore_failure: bool = False,
        auto_correct_types: bool = False,
        task_retries: int | None = None,
        on_failure: OnFailure = "continue",
        stop_after: str | None = None,
        if_busy: IfBusy = "wait",
        timeout: str | None = None,
        subgraph_retries: int | None = None,
        breakpoints: Sequence[str] = (),
        break_timeout: str | None = None,
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """Bring it to another blueprint; inputs that are not given stay, ``plugins`` None: the folders it has.

        The words from ``workflow_id`` to ``auto_correct_types`` are those of the command; ``parameters``: any of the workflow
        ``update``. How it is run is said as of ``executions.install``. What it would do: ``plans.update``.
        """
        from phaseline.use_cases.commands.update import update

        order = update_of(
            name,
            file,
            inputs,
            plugins,
            parameters,
            runtime_only=runtime_only_evaluation,
            workflow_id=workflow_id,
            reinstall=reinstall,
            allow_replace=allow_replace,
            skip_uninstall=skip_uninstall,
            skip_install=skip_install,
            skip_drift_check=skip_drift_check,
            skip_heal=skip_heal,
            skip_reinstall=skip_reinstall,
            force_reinstall=force_reinstall,
            ignore_failure=ignore_failure,
            auto_correct_types=auto_correct_types,
        )
        manner = manner_of(
            task_retries, on_failure, stop_after, if_busy, timeout, subgraph_retries, breakpoints, break_timeout
        )
        return update(self._place, order, manner=manner, watcher=watcher, detach=detach)

    def export(self, deployment: str, *, heat: bool = False) -> Mapping[str, Value]:
        """It as a document, which ``adopt`` takes; ``heat``: with none but the keys that documents of Heat have."""
        from phaseline.use_cases.prepare.stack_documents import export

        return export(self._place, deployment, only_others=heat)

    def adopt(
        self,
        document: str,
        deployment: str | None = None,
        *,
        blueprint: str | None = None,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] | None = None,
        allow_type_change: bool = False,
        check: bool = True,
        task_retries: int | None = None,
        on_failure: OnFailure = "continue",
        stop_after: str | None = None,
        if_busy: IfBusy = "wait",
        timeout: str | None = None,
        subgraph_retries: int | None = None,
        breakpoints: Sequence[str] = (),
        break_timeout: str | None = None,
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """A deployment of what is there already, by the document in a file; nothing is created.

        ``deployment`` None: named as in the document. How it is run is said as of ``executions.install``.
        """
        from phaseline.use_cases.commands.adopt import AdoptOrder, adopt

        order = AdoptOrder(document, deployment, blueprint, inputs or {}, plugins, allow_type_change, check)
        manner = manner_of(
            task_retries, on_failure, stop_after, if_busy, timeout, subgraph_retries, breakpoints, break_timeout
        )
        return adopt(self._place, order, manner=manner, watcher=watcher, detach=detach)

    def abandon(
        self, deployment: str, *, force: bool = False, watcher: Watcher | None = None, detach: bool = False
    ) -> ExecutionView:
        """Forget it and leave alone what it stands for; its document is kept for 30 days, under the execution's id."""
        from phaseline.use_cases.commands.adopt import abandon

        return abandon(self._place, deployment, force=force, watcher=watcher, detach=detach)

    def inputs(self, name: str) -> Mapping[str, Value]:
        """Its inputs with their defaults; hidden ones stay hidden."""
        return self.show(name).inputs

    def outputs(self, name: str, *, reveal: bool = False) -> Mapping[str, Value]:
        """Its outputs, computed now; secrets in them as ``(hidden)`` unless ``reveal``."""
        return self._computed(name, reveal=reveal).outputs

    def capabilities(self, name: str, *, reveal: bool = False) -> Mapping[str, Value]:
        """Its capabilities, computed now; secrets in them as ``(hidden)`` unless ``reveal``."""
        return self._computed(name, reveal=reveal).capabilities

    def delete(self, name: str, *, force: bool = False) -> DeploymentView:
        """Forget it: the name is free again, its executions stay. ``force``: although instances may still exist."""
        from phaseline.use_cases.commands.delete_deployment import delete_deployment

        return delete_deployment(self._place, name, force=force)

    def _computed(self, name: str, *, reveal: bool) -> Outputs:
        from phaseline.use_cases.queries.deployments import outputs

        return outputs(self._place, name, reveal=reveal)


@checked("instances")
class Instances(Noun):
    """The things that a deployment consists of."""

    def list(
        self,
        *,
        deployment: str | None = None,
        node: str | None = None,
        state: str | None = None,
        limit: int | None = None,
    ) -> Page[InstanceView]:
        """Instances in the order of their numbers, without their properties."""
        from phaseline.use_cases.queries.instances import list_instances

        return list_instances(self._place, deployment=deployment, node=node, state=state, limit=limit)

    def show(self, id: str, *, deployment: str | None = None) -> InstanceView:
        """One of them with its runtime properties and relationships."""
        from phaseline.use_cases.queries.instances import show_instance

        return show_instance(self._place, id, deployment=deployment)

    def mark_unhealthy(self, ids: Sequence[str], *, deployment: str | None = None, reason: str = "") -> ExecutionView:
        """Say that instances are ill, whatever checks find: the next heal mends them or makes them anew."""
        from phaseline.use_cases.commands.mark_unhealthy import mark_unhealthy

        return mark_unhealthy(self._place, ids, deployment=deployment, reason=reason)

    def restrict(
        self,
        deployment: str,
        names: Sequence[str],
        *,
        forbid: Sequence[str] = (),
        lift: bool = False,
        as_blueprint: bool = False,
    ) -> ExecutionView:
        """Forbid that nodes and instances are updated, replaced or deleted: what ``forbid`` names and nothing else.

        ``lift``: nothing is forbidden, which is also meant when none of the three is given. ``as_blueprint``: what the blueprint says.
        Raises: PL-C094 for more than one of the three.
        """
        from phaseline.use_cases.commands.restrict import refuse_two, restrict

        refuse_two(forbid, lift=lift, as_blueprint=as_blueprint)
        return restrict(self._place, deployment, names, actions=None if as_blueprint else forbid)

    def signal(
        self,
        id: str,
        *,
        deployment: str | None = None,
        data: Value = None,
        operations: Sequence[str] = (),
        detach: bool = False,
    ) -> ExecutionView:
        """Say something to its operations that sleep: they are called now and find it in ``item.data["signals"]``."""
        from phaseline.use_cases.commands.signal import signal

        return signal(self._place, id, deployment=deployment, data=data, operations=operations, detach=detach)

    def why(self, id: str, *, deployment: str | None = None) -> Waiting:
        """What it waits for, since when, and what would let it go on."""
        from phaseline.use_cases.queries.wait_reasons import why

        return why(self._place, id, deployment=deployment)

    def stuck(self, *, deployment: str | None = None, limit: int | None = None) -> Page[Stuck]:
        """What does not go on by itself, over all deployments, like things together, the oldest first."""
        from phaseline.use_cases.queries.stuck import list_stuck

        return list_stuck(self._place, deployment=deployment, limit=limit)


@checked("engine")
class EngineDoor(Noun):
    """The process that owns the store."""

    def run(self, *, until_idle: bool = True) -> EngineRun:
        """Be the engine, until nothing is open but what waits for a person; else until it is asked to stop."""
        from phaseline.embedded.engine_commands import run_engine

        return run_engine(self._place, until_idle=until_idle)

    def status(self) -> EngineStatus:
        """Who owns the store, and what is open."""
        from phaseline.embedded.engine_commands import engine_status

        return engine_status(self._place)

    def stop(self, *, drain: float | None = None) -> Stopped:
        """Have it stop when its running calls have returned, at most after ``drain`` seconds."""
        from phaseline.embedded.engine_commands import stop_engine

        return stop_engine(self._place, drain_s=drain)
