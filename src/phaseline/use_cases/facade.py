"""The use cases by noun, for Python programs: ``phaseline.open()`` gives them over one store.

Nothing is decided here and nothing is hidden: each method is the use case of that name, imported when it is called.
All that comes back are the frozen values of ``use_cases.values`` and of the use case's own module; all that is wrong
with a request is raised as ``ProblemsError``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

from phaseline.use_cases.arguments import checked, looking
from phaseline.use_cases.breakpoint_noun import Breakpoints
from phaseline.use_cases.execution_noun import Executions, order_of
from phaseline.use_cases.hook_noun import Hooks
from phaseline.use_cases.plan_noun import Plans
from phaseline.use_cases.plugin_nouns import Phases, Plugins
from phaseline.use_cases.resource_noun import Resources
from phaseline.use_cases.secret_noun import Secrets
from phaseline.use_cases.snapshot_noun import Abandoned, Snapshots

if TYPE_CHECKING:
    from types import TracebackType

    from phaseline.model.blueprint import Value
    from phaseline.model.stored_blueprints import StoredBlueprint
    from phaseline.use_cases.deployment_history import DeploymentHistory
    from phaseline.use_cases.engine import EngineRun, EngineStatus, Stopped
    from phaseline.use_cases.labels import Labels
    from phaseline.use_cases.plans import Planned
    from phaseline.use_cases.status import Status
    from phaseline.use_cases.stored_blueprints import Packaged, Shelved, Stored, Uploaded
    from phaseline.use_cases.stuck import Stuck
    from phaseline.use_cases.values import (
        DeploymentDetails,
        DeploymentView,
        ExecutionView,
        InstanceView,
        Outputs,
        Page,
        Validated,
    )
    from phaseline.use_cases.waiting import Waiting
    from phaseline.use_cases.watching import Watcher
    from phaseline.use_cases.workplace import Workplace


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

    from phaseline.use_cases.background import launch
    from phaseline.use_cases.settings import load_settings
    from phaseline.use_cases.workplace import Workplace

    given = {**(settings or {}), **({"store.url": url} if url is not None else {})}
    loaded = load_settings(config=config, given=given)
    folders = tuple(str(Path(folder).absolute()) for folder in plugins)
    loaded = replace(loaded, plugin_folders=(*folders, *loaded.plugin_folders))
    program = Path(sys.argv[0]).name or "python"
    return Phaseline(Workplace(loaded, program, launch if background else None))


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

    def status(self) -> Status:
        """How everything in the store stands at this moment."""
        from phaseline.use_cases.status import status

        return status(self.place)

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
        self, path: str, id: str | None = None, *, main_file: str | None = None, plugins: Sequence[str] = ()
    ) -> Uploaded:
        """Store all files of a blueprint's folder as the next version of an id; equal ones change nothing."""
        from phaseline.use_cases.stored_blueprints import upload

        return upload(self._place, path, id, main_file=main_file, plugin_folders=plugins)

    def list(self) -> Sequence[Shelved]:
        """All stored blueprints by id, each with its newest version."""
        from phaseline.use_cases.stored_blueprints import list_blueprints

        return list_blueprints(self._place)

    def show(self, name: str) -> Stored:
        """One version with its files, and who needs it."""
        from phaseline.use_cases.stored_blueprints import show_blueprint

        return show_blueprint(self._place, name)

    def delete(self, name: str) -> Sequence[StoredBlueprint]:
        """Forget all versions of an id, or one of them."""
        from phaseline.use_cases.stored_blueprints import delete_blueprint

        return delete_blueprint(self._place, name)

    def package(self, file: str, output: str | None = None) -> Packaged:
        """Write all files of a blueprint into an archive: .zip, .tar.gz or .tgz."""
        from phaseline.use_cases.stored_blueprints import package

        return package(self._place, file, output)

    def validate(self, file: str, *, plugins: Sequence[str] = ()) -> Validated:
        """What is in the blueprint, and warnings. Raises ``ProblemsError`` with everything that is wrong with it."""
        from phaseline.use_cases.blueprints import validate

        return validate(self._place, file, plugin_folders=plugins)

    def plan(self, file: str, *, inputs: Mapping[str, Value] | None = None, plugins: Sequence[str] = ()) -> Planned:
        """What installing it would do; no code of the blueprint or of a plugin is run."""
        from phaseline.use_cases.plans import plan_install

        return plan_install(self._place, order_of(file, None, inputs, plugins))


@checked("deployments")
class Deployments(Noun):
    """Blueprints with inputs, under a name."""

    def list(
        self, *, status: str | None = None, text: str = "", labels: Sequence[str] = (), limit: int | None = None
    ) -> Page[DeploymentView]:
        """Deployments by name, with their instances by state and their latest execution; ``labels``: those they have."""
        from phaseline.use_cases.deployments import list_deployments

        return list_deployments(self._place, status=status, text=text, labels=labels, limit=limit)

    def labels(self, name: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Labels:
        """Its labels, after adding ``KEY=VALUE`` and removing ``KEY=VALUE`` or ``KEY``."""
        from phaseline.use_cases.labels import change_labels

        return change_labels(self._place, name, add=add, remove=remove)

    def history(self, name: str, *, limit: int | None = None) -> DeploymentHistory:
        """What was run in it, by whom, and what people decided on the way."""
        from phaseline.use_cases.deployment_history import deployment_history

        return deployment_history(self._place, name, limit=limit)

    def show(self, name: str) -> DeploymentDetails:
        """One deployment with its inputs and nodes and the folders of its code."""
        from phaseline.use_cases.deployments import show_deployment

        return show_deployment(self._place, name)

    def create(
        self,
        file: str,
        name: str | None = None,
        *,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] = (),
        labels: Sequence[str] = (),
    ) -> DeploymentDetails:
        """A deployment of a blueprint file (``name`` None: its folder's) with all its instances; nothing is called.

        ``labels``: as ``KEY=VALUE``, beside those of the blueprint.
        """
        from phaseline.use_cases.creating import create

        return create(self._place, order_of(file, name, inputs, plugins, labels))

    def update(
        self,
        name: str,
        file: str,
        *,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] | None = None,
        parameters: Mapping[str, Value] | None = None,
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """Bring it to another blueprint; inputs that are not given stay, ``plugins`` None: the folders it has.

        ``parameters``: of the workflow ``update``, such as ``allow_replace``.
        """
        from phaseline.use_cases.prepared_updates import UpdateOrder
        from phaseline.use_cases.updating import update

        order = UpdateOrder(name, file, inputs or {}, plugins, parameters or {})
        return update(self._place, order, watcher=watcher, detach=detach)

    def export(self, name: str, *, only_others: bool = False) -> Mapping[str, Value]:
        """It as a document, which ``adopt`` takes; ``only_others``: with none but the keys that documents of Heat have."""
        from phaseline.use_cases.stack_documents import export

        return export(self._place, name, only_others=only_others)

    def adopt(
        self,
        document: str,
        name: str | None = None,
        *,
        blueprint: str | None = None,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] | None = None,
        allow_type_change: bool = False,
        check: bool = True,
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """A deployment of what is there already, by the document in a file; nothing is created."""
        from phaseline.use_cases.adopting import AdoptOrder, adopt

        order = AdoptOrder(document, name, blueprint, inputs or {}, plugins, allow_type_change, check)
        return adopt(self._place, order, watcher=watcher, detach=detach)

    def abandon(
        self, name: str, *, force: bool = False, watcher: Watcher | None = None, detach: bool = False
    ) -> ExecutionView:
        """Forget it and leave alone what it stands for; its document is kept for 30 days, under the execution's id."""
        from phaseline.use_cases.adopting import abandon

        return abandon(self._place, name, force=force, watcher=watcher, detach=detach)

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
        from phaseline.use_cases.deployments import delete_deployment

        return delete_deployment(self._place, name, force=force)

    def _computed(self, name: str, *, reveal: bool) -> Outputs:
        from phaseline.use_cases.deployments import outputs

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
        from phaseline.use_cases.instances import list_instances

        return list_instances(self._place, deployment=deployment, node=node, state=state, limit=limit)

    def show(self, id: str, *, deployment: str | None = None) -> InstanceView:
        """One of them with its runtime properties and relationships."""
        from phaseline.use_cases.instances import show_instance

        return show_instance(self._place, id, deployment=deployment)

    def mark_unhealthy(self, ids: Sequence[str], *, deployment: str | None = None, reason: str = "") -> ExecutionView:
        """Say that instances are ill, whatever checks find: the next heal mends them or makes them anew."""
        from phaseline.use_cases.marking import mark_unhealthy

        return mark_unhealthy(self._place, ids, deployment=deployment, reason=reason)

    def restrict(self, deployment: str, names: Sequence[str], *, actions: Sequence[str] | None = ()) -> ExecutionView:
        """Forbid that nodes and instances are updated, replaced or deleted, these and no others; None: as the blueprint says."""
        from phaseline.use_cases.restricting import restrict

        return restrict(self._place, deployment, names, actions=actions)

    def signal(
        self, id: str, *, deployment: str | None = None, data: Value = None, operations: Sequence[str] = ()
    ) -> ExecutionView:
        """Say something to its operations that sleep: they are called now and find it in ``item.data["signals"]``."""
        from phaseline.use_cases.signaling import signal

        return signal(self._place, id, deployment=deployment, data=data, operations=operations)

    def why(self, id: str, *, deployment: str | None = None) -> Waiting:
        """What it waits for, since when, and what would let it go on."""
        from phaseline.use_cases.waiting import why

        return why(self._place, id, deployment=deployment)

    def stuck(self, *, deployment: str | None = None, limit: int | None = None) -> Page[Stuck]:
        """What does not go on by itself, over all deployments, like things together, the oldest first."""
        from phaseline.use_cases.stuck import list_stuck

        return list_stuck(self._place, deployment=deployment, limit=limit)


@checked("engine")
class EngineDoor(Noun):
    """The process that owns the store."""

    def run(self, *, until_idle: bool = True) -> EngineRun:
        """Be the engine, until nothing is open but what waits for a person; else until it is asked to stop."""
        from phaseline.use_cases.engine import run_engine

        return run_engine(self._place, until_idle=until_idle)

    def status(self) -> EngineStatus:
        """Who owns the store, and what is open."""
        from phaseline.use_cases.engine import engine_status

        return engine_status(self._place)

    def stop(self, *, drain_s: float | None = None) -> Stopped:
        """Have it stop when its running calls have returned, at most after ``drain_s``."""
        from phaseline.use_cases.engine import stop_engine

        return stop_engine(self._place, drain_s=drain_s)
