"""The estate of this process: prepares what Components make, from the use cases behind the same commands (CO1)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.deployment.sealed_values import hidden_inputs
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.follow_ups import BlueprintUpload
from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery
from phaseline.ports.estate import InnerDeployment
from phaseline.use_cases.commands import secrets, upload_blueprint
from phaseline.use_cases.loading import blueprint_loading, deployment_rows, stored_blueprint_files
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.prepare import deployment_spec, workflow_start
from phaseline.use_cases.prepare.pre_post import new_execution
from phaseline.use_cases.queries import deployments as deployment_queries
from phaseline.use_cases.queries.executions import view_execution

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.stored_blueprints import StoredBlueprint
    from phaseline.model.rows.causes import CausedRow
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow, NewDeployment, NewExecution
    from phaseline.model.rows.secrets import SecretRow
    from phaseline.ports.estate import CallEntry, InnerWorkflow


class StoredEstate:
    """The ``ports.estate.Estate`` of the process whose engine makes the calls."""

    def __init__(self, ctx: RequestContext) -> None:
        """``ctx``: the context of the engine; what an entry makes belongs to the user of its execution."""
        self._ctx = ctx

    def _of(self, entry: CallEntry) -> RequestContext:
        return altered(self._ctx, actor=entry.actor)

    def now(self) -> int:
        """Return the time in ms."""
        return self._ctx.clock.now()

    def caused(self, execution: int) -> Sequence[CausedRow]:
        """Return what Components in an execution have made."""
        return self._ctx.app.store.causes.caused("component", execution)

    def deployment(self, entry: CallEntry, name: str) -> DeploymentRow | None:
        """Return the deployment with exactly this name, or None."""
        return self._of(entry).store.deployment(name)

    def deployments(self, entry: CallEntry, numbers: Sequence[int]) -> Sequence[DeploymentRow]:
        """Return those of the deployments that are not deleted."""
        return self._of(entry).store.listings.deployments(DeploymentQuery(numbers=tuple(numbers)))

    def executions(self, entry: CallEntry, numbers: Sequence[int]) -> Sequence[ExecutionRow]:
        """Return the executions with these numbers."""
        return self._of(entry).store.listings.executions(ExecutionQuery(numbers=tuple(numbers)))

    def stored_blueprint(self, entry: CallEntry, name: str) -> StoredBlueprint:
        """Return the stored blueprint of this name. Raises: PL-C054."""
        return stored_blueprint_files.find_stored(self._of(entry), name)

    def find_blueprint(self, entry: CallEntry, name: str) -> StoredBlueprint | None:
        """Return the stored blueprint of this name, or None."""
        found = stored_blueprint_files.read_name(name)
        return None if found is None else self._of(entry).store.stored_blueprints.find(*found)

    def is_ours(self, entry: CallEntry, blueprint: StoredBlueprint) -> bool:
        """Return True if a Component has stored this version, not a user."""
        return blueprint.number in self._of(entry).store.causes.of_blueprints([blueprint.number])

    def read_blueprint(
        self, entry: CallEntry, id: str, path: str, main_file: str, folder: str
    ) -> BlueprintUpload | StoredBlueprint:
        """Read a blueprint from inside ``folder``; return the newest stored version if that is equal."""
        ctx = self._of(entry)
        found = _inside(path, folder)
        named = upload_blueprint.id_for(str(found), id)
        with upload_blueprint.examined(ctx, str(found), named, main_file=main_file) as checked:
            newest = ctx.store.stored_blueprints.find(named)
            if newest is not None and newest.digest == checked.blueprint.digest:
                return newest
            tree = checked.tree
            contents = {file.digest: tree.content(file) for file in tree.files}
            return BlueprintUpload(checked.blueprint, tree.files, contents, checked.imports, entry.cause)

    def prepare_deployment(self, entry: CallEntry, wanted: InnerDeployment, secrets: Sequence[str]) -> NewDeployment:
        """Check inputs and labels, and return the deployment to be stored."""
        ctx = self._of(entry)
        name = blueprint_loading.deployment_name("", wanted.name)
        labels = tuple(f"{key}={value}" for key, value in wanted.labels)
        file = f"{stored_blueprint_files.PREFIX}{wanted.blueprint}"
        loaded = deployment_spec.load_order(
            ctx, deployment_spec.DeploymentSpec(file, name, wanted.inputs, labels=labels)
        )
        deployment_rows.raise_if_secrets_missing(ctx, loaded.blueprint, coming=secrets)
        new = deployment_rows.new_deployment(ctx, name, loaded, ctx.clock.now())
        return altered(new, cause=entry.cause)

    def prepare_execution(self, entry: CallEntry, deployment: str, wanted: InnerWorkflow) -> NewExecution:
        """Check the workflow and its parameters, and return the execution with its hooks pinned."""
        ctx = self._of(entry)
        row = find_deployment(ctx.store, deployment, to_change=True)
        declared = workflow_start.declared_parameters(ctx, row, wanted.workflow)
        inherited = {name: value for name, value in wanted.inherited.items() if name in declared}
        order = workflow_start.WorkflowStart(
            wanted.workflow, row.name, {**inherited, **wanted.parameters}, wanted.allow_custom, wanted.force
        )
        prepared = workflow_start.prepare(ctx, order)
        new, _ = new_execution(ctx, row.number, prepared.request)
        return altered(new, cause=entry.cause)

    def prepare_secret(self, entry: CallEntry, name: str, value: str) -> SecretRow:
        """Return an encrypted secret, whose value is masked from now on."""
        ctx = self._of(entry)
        secrets.raise_if_unfit(name, value)
        if self.has_secret(entry, name):
            raise problem_error(
                "PL-C112", f"there is a secret '{name}' already", "give the new secret another name", subject=name
            )
        return ctx.vault.prepared(name, value, ctx.actor.name)

    def has_secret(self, entry: CallEntry, name: str) -> bool:
        """Return True if there is a secret of this name."""
        return self._of(entry).store.secrets.find(name) is not None

    def capabilities(self, entry: CallEntry, deployment: str) -> Mapping[str, Value]:
        """Return the capabilities of a deployment, evaluated in it; what is secret in them is encrypted when stored."""
        return deployment_queries.outputs(self._of(entry), deployment, reveal=True).capabilities

    def describe(self, entry: CallEntry, deployment: DeploymentRow) -> InnerDeployment:
        """Return a deployment as it is now, without inputs that are secret."""
        store = self._of(entry).store
        hidden = hidden_inputs(store.blueprint(deployment.number))
        inputs = {name: value for name, value in store.inputs(deployment.number).items() if name not in hidden}
        used = store.stored_blueprints.of_deployment(deployment.number).get("")
        labels = [(one.key, one.value) for one in store.labels.of(deployment.number)]
        return InnerDeployment(deployment.name, str(used or ""), inputs, labels)

    def is_installed(self, deployment: DeploymentRow) -> bool:
        """Return True if an instance of the deployment may exist."""
        return deployment_queries.living_count(self._ctx.app.store, deployment) > 0

    def is_at_rest(self, deployment: DeploymentRow) -> bool:
        """Return True if no instance of the deployment may exist, and no execution of it is open."""
        store = self._ctx.app.store
        return not (store.executions(deployment.number, only_open=True) or self.is_installed(deployment))

    def is_installed_whole(self, deployment: DeploymentRow) -> bool:
        """Return True if all instances of the deployment are started and it is not empty."""
        store = self._ctx.app.store
        topology, states = store.topology(deployment.number), store.states(deployment.number)
        there = states[topology.is_there]
        return len(there) > 0 and bool((there == InstanceState.STARTED).all())

    def first_failure(self, execution: ExecutionRow) -> str:
        """Return the first failure of an ended execution as text, empty if there is none."""
        view = view_execution(self._ctx.app.store.of(execution.tenant), execution)
        failed = next(iter(view.failures), None)
        if failed is None:
            return execution.reason
        place = f"{failed.instance} → {failed.target}" if failed.target else failed.instance
        return f"{failed.operation} of {place}: {failed.message}"

    def forget_files(self, entry: CallEntry) -> None:
        """Remove written files of stored blueprints that are no longer stored."""
        ctx = self._of(entry)
        folder = stored_blueprint_files.work_folder(ctx)
        kept = {row.digest for row in ctx.store.stored_blueprints.all()}
        for each in folder.iterdir() if folder.is_dir() else ():
            if len(each.name) == DIGEST and each.name not in kept:
                shutil.rmtree(each, ignore_errors=True)


DIGEST = 64
"""Length of the name of a folder with the files of a stored blueprint: a digest as hexadecimal digits."""


def _inside(path: str, folder: str) -> Path:
    """Return the file or folder of a path that begins in ``folder``. Raises: PL-C113 if it is not in it."""
    if "://" in path:
        mend = "download the archive, and put it into the folder of the blueprint"
        raise problem_error("PL-C113", f"a blueprint is not fetched from the address '{path}'", mend, subject=path)
    top = Path(folder).resolve()
    found = (top / path).resolve()
    if not found.is_relative_to(top):
        mend = "name a folder or an archive inside the folder of the blueprint, or a stored blueprint by its id"
        raise problem_error("PL-C113", f"'{path}' leads out of the blueprint's folder", mend, subject=path)
    if not found.exists():
        mend = "correct 'blueprint_archive', or name a stored blueprint with 'id' alone"
        raise problem_error("PL-C113", f"there is no '{path}' in the blueprint's folder", mend, subject=path)
    return found
