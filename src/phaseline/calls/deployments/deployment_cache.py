"""The deployments, executions and policies that running batches refer to, loaded from the store when first needed.

Used only by the thread that makes a turn (``turn_thread``). Exception: a ``LoadedDeployment`` is safe from any thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from phaseline.calls.deployments.call_subjects import LoadedDeployment
from phaseline.calls.protocol.call import ExecutionContext
from phaseline.calls.protocol.no_secrets import NoSecrets
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import changed, labelled, labels_of
from phaseline.model.deployment.sealed_values import hidden_inputs
from phaseline.model.execution.pre_post import PrePost
from phaseline.model.resources.state_graph_names import missing_names, state_numbers
from phaseline.model.rows import row_queries
from phaseline.model.rows.incarnations import Names
from phaseline.model.rows.rows import PlannerWrites

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from phaseline.calls.deployments.batch_parts import FindPhase
    from phaseline.calls.deployments.hook_decisions import Decisions
    from phaseline.calls.deployments.hook_lookups import ExecutionHookLookup
    from phaseline.calls.protocol.reports import CallReport
    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.stack_documents import DocumentKind, NewDocument
    from phaseline.model.execution.events import Batch, StatesEntered
    from phaseline.model.execution.execution import Reshape
    from phaseline.model.execution.stored_plans import Aim
    from phaseline.model.graph.graph import Graph, Policy
    from phaseline.model.health.checks import NewCheckResults
    from phaseline.model.phases.definitions import PhaseDefinition
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow, NoteRow, Reshaped
    from phaseline.plan.rounds.round_preview import PreviewedRounds
    from phaseline.plan.topology.stack_document import FilesTaken
    from phaseline.ports.secrets import SecretSource
    from phaseline.ports.store import Store


def no_phase(_name: str) -> PhaseDefinition | None:
    """Where no plugin was read yet."""
    return None


def nowhere(_execution: int) -> PreviewedRounds | None:
    """Used where nothing is planned."""
    return None


def nobodys(_deployment: int, _code: CodeLocation, _file: str) -> FilesTaken | None:
    """Used where no files are read."""
    return None


class DeploymentCache:
    """Deployments, executions and graphs in memory, by number. ``names``: the store's names in tokens and marks."""

    def __init__(self, store: Store, secrets: SecretSource | None = None) -> None:
        self._store = store
        self.secrets: SecretSource = NoSecrets() if secrets is None else secrets
        self.names = Names(store.identity(), store.incarnations.all())
        self._loaded: dict[int, LoadedDeployment] = {}
        self._stale: set[int] = set()
        self._names: dict[int, str] = {}
        self._executions: dict[int, ExecutionContext] = {}
        self._policies: dict[int, tuple[Policy, ...]] = {}
        self._data: dict[int, dict[int, Value]] = {}
        self._doubted: dict[int, dict[int, int]] = {}
        self.used: set[int] = set()
        """Deployments that were loaded, or of which an execution began or the last one left, since ``Eviction`` looked last."""
        self.find_phase: FindPhase = no_phase
        self.leads_to: Callable[[int], PreviewedRounds | None] = nowhere
        """Returns the result of an execution if nothing fails."""
        self.files_of: Callable[[int, CodeLocation, str], FilesTaken | None] = nobodys
        """The files of a deployment's blueprint, by its number, its code and the main file."""

    def loaded(self, deployment: int) -> LoadedDeployment:
        """The deployment with its documents. ``KeyError`` if it was deleted."""
        found = self._loaded.get(deployment)
        if found is None:
            store = self._store
            row = self._living(deployment)
            if row is None:
                raise KeyError(deployment)
            with store.at_once():
                found = LoadedDeployment(
                    deployment,
                    row.name,
                    blueprint=labelled(store.blueprint(deployment), store.labels.of(deployment)),
                    topology=store.topology(deployment),
                    code=row.code,
                    inputs=self._inputs(deployment),
                    documents=self._documents(deployment),
                    states=np.array(store.states(deployment), np.uint8),
                    creator=row.created_by,
                    state_names=store.state_names(deployment),
                    checks=store.checks(deployment),
                    secrets=self.secrets,
                )
            found.named = lambda execution: self.name_of(execution, deployment)
            self._loaded[deployment] = found
            self.used.add(deployment)
        return found

    def row(self, execution: int) -> ExecutionRow:
        """The stored row of an execution. ``KeyError`` if it was purged."""
        for row in self._store.listings.executions(row_queries.ExecutionQuery(numbers=(execution,))):
            return row
        raise KeyError(execution)

    def _living(self, deployment: int) -> DeploymentRow | None:
        """The stored row of a deployment, None if it was deleted."""
        name = self._names.get(deployment)
        row = None if name is None else self._store.deployment(name)
        if row is not None and row.number == deployment:
            return row
        # its name is not known, or another deployment has it now
        return next(iter(self._store.listings.deployments(row_queries.DeploymentQuery(numbers=(deployment,)))), None)

    def name_of(self, execution: int, deployment: int) -> str:
        """The id of an execution; nothing if it was purged."""
        known = self._executions.get(execution)
        if known is not None:
            return known.id
        rows = self._store.listings.executions(
            row_queries.ExecutionQuery(numbers=(execution,), deployments=(deployment,))
        )
        return next((row.id for row in rows), "")

    def grow(self, deployment: int, count: int) -> LoadedDeployment:
        """The deployment with at least ``count`` instances; new ones are read from the store."""
        found = self.loaded(deployment)
        if len(found.topology) < count:
            store, before = self._store, len(found.topology)
            topology = store.topology(deployment)
            added = range(before, len(topology))
            states = np.array(store.states(deployment), np.uint8)[before:]
            found.grow(topology, self._documents(deployment, added), states)
        return found

    def aim_of(self, row: ExecutionRow) -> Aim | None:
        """The aim of an execution: that of the plan in its request."""
        from phaseline.model.execution.stored_plans import PLAN  # few executions carry one out

        number = row.request.parameters.get(PLAN)
        plan = self._store.stored_plans.find(number) if isinstance(number, int) else None
        return None if plan is None or plan.deployment != row.deployment else plan.aim

    def written_down(self, row: ExecutionRow, answer: Reshape, now: Callable[[], int]) -> PlannerWrites | None:
        """The rows to store with a planner's round, made from the planner's answer; None if it asks for none.

        Such rows are a new document, a document to delete, labels, and instances to be marked unhealthy.
        """
        if answer.keeps is None and answer.drops is None and answer.marks is None and answer.labels is None:
            return None
        from phaseline.calls.deployments.stack_export import called_ill
        from phaseline.model.deployment.stack_documents import Drop

        kept = () if answer.keeps is None else (self._document(row, *answer.keeps),)
        dropped = () if answer.drops is None else (Drop(*answer.drops, row.deployment),)
        checks = () if answer.marks is None else (called_ill(row, *answer.marks, now()),)
        self.checked(checks)
        labels = () if answer.labels is None else ((row.deployment, answer.labels),)
        if answer.labels is not None:
            found = self.loaded(row.deployment)
            then = changed(self._store.labels.of(row.deployment), answer.labels)
            found.blueprint = labelled(altered(found.blueprint, labels={}), then)
        return PlannerWrites(kept, dropped, checks=checks, labels=labels)

    def _document(self, row: ExecutionRow, kind: DocumentKind, name: str) -> NewDocument:
        """With all that is needed elsewhere where nothing of the deployment is left here."""
        from phaseline.calls.deployments.stack_export import NO_FILES, new_document
        from phaseline.model.deployment.stack_documents import ABANDONED

        loaded = self.loaded(row.deployment)
        files = self.files_of(row.deployment, loaded.view.code, loaded.blueprint.file) if kind == ABANDONED else None
        return new_document(self._store, loaded, row, kind, name, files or NO_FILES)

    def reshape(self, row: Reshaped) -> None:
        """The deployment takes another shape, before that is stored: the same turn stores it."""
        found, blueprint = self.loaded(row.deployment), row.topology.blueprint
        inputs = found.inputs if row.inputs is None else self._opened(row.inputs, blueprint)
        code = found.view.code if row.code is None else altered(row.code, packages=found.view.code.packages)
        found.reshape(row.topology, inputs, code)
        kept = {*self._store.labels.of(row.deployment), *labels_of(blueprint.labels)}
        found.blueprint = labelled(found.blueprint, sorted(kept))

    def _inputs(self, deployment: int) -> Mapping[str, Value]:
        return self._opened(self._store.inputs(deployment), self._store.blueprint(deployment))

    def _opened(self, inputs: Mapping[str, Value], blueprint: Blueprint) -> Mapping[str, Value]:
        """The inputs with secrets decrypted, which are then masked in everything that is written."""
        hidden = hidden_inputs(blueprint)
        opened = {name: self.secrets.unsealed(value) if name in hidden else value for name, value in inputs.items()}
        self.secrets.learn([opened[name] for name in hidden if name in opened])
        return opened

    def _documents(self, deployment: int, instances: Sequence[int] | None = None) -> Mapping[int, dict[str, Value]]:
        """Runtime properties, opened where they are sealed. While nothing in the store is sealed they are not looked through."""
        found = self._store.documents(deployment, instances)
        if not self.secrets.has_seals:
            return found
        return {number: cast("dict[str, Value]", self.secrets.unsealed(body)) for number, body in found.items()}

    def name_states(self, deployment: int, wanted: Iterable[str]) -> Mapping[str, int]:
        """{state: its number} for these states and all of the deployment; new states are stored at once."""
        found = self.loaded(deployment)
        if missing_names(found.state_names, wanted):
            found.state_names = self._store.name_states(deployment, list(dict.fromkeys(wanted)))
        return state_numbers(found.state_names)

    def renew(self) -> None:
        """Plugins were reloaded: loaded deployments search for their code again when their next execution begins."""
        self._stale.update(self._loaded)

    def _look_for_code(self, row: ExecutionRow) -> None:
        """The packages that a deployment uses may be other ones now."""
        self._stale.discard(row.deployment)
        found = self._loaded.get(row.deployment)
        stored = None if found is None else self._living(row.deployment)
        if found is not None and stored is not None:
            found.move(altered(found.view.code, packages=stored.code.packages))

    @property
    def numbers(self) -> Collection[int]:
        """Numbers of the deployments in memory."""
        return self._loaded.keys()

    def held(self, deployment: int) -> LoadedDeployment | None:
        """The deployment if it is in memory; it is not read."""
        return self._loaded.get(deployment)

    def forget(self, deployment: int) -> None:
        """Read the deployment afresh when it is needed next."""
        self._loaded.pop(deployment, None)
        self._names.pop(deployment, None)
        self._stale.discard(deployment)

    def entered(self, changes: Sequence[StatesEntered]) -> None:
        """Follow the states that a turn writes."""
        for change in changes:
            loaded = self._loaded.get(change.deployment)
            if loaded is not None and change.states:
                loaded.enter(change.states, change.subjects)

    def checked(self, made: Sequence[NewCheckResults]) -> None:
        """Follow the results of checks that a turn writes."""
        for results in made:
            self.loaded(results.deployment).checks.record(results)

    def begin(self, row: ExecutionRow) -> None:
        """Know an execution, so that neither it nor its deployment need be searched in the store."""
        self.used.add(row.deployment)
        self._names[row.deployment] = row.deployment_name
        if row.deployment in self._stale:
            self._look_for_code(row)
        around = self._store.around(row.number) if row.request.is_surrounded else PrePost()
        if row.request.breakpoints:
            around = altered(around, breakpoints=row.request.breakpoints)
        self._executions[row.number] = ExecutionContext(
            row.id,
            row.request.workflow,
            row.request.parameters,
            creator=row.created_by,
            is_resumed=row.attempt > 0,
            decisions=self._decided(row) if around.hooks else {},
            around=around,
            ground=self._ground(row) if around.hooks else None,
        )

    def _ground(self, row: ExecutionRow) -> ExecutionHookLookup:
        from phaseline.calls.deployments.hook_lookups import ExecutionHookLookup  # only where there are hooks

        return ExecutionHookLookup(row.number, self._store, self.leads_to, lambda: self._aimed_inputs(row))

    def _aimed_inputs(self, row: ExecutionRow) -> Mapping[str, Value] | None:
        """The inputs of what an execution brings its deployment to; None where it aims at nothing."""
        aim = self.aim_of(row)
        return None if aim is None else self._opened(aim.inputs, aim.blueprint)

    def _decided(self, row: ExecutionRow) -> Decisions:
        from phaseline.calls.deployments.hook_decisions import decided

        return decided(self._store, row)

    def decide(self, batch: Batch, report: CallReport) -> None:
        """Apply the decisions of hooks for instances before any call for these."""
        from phaseline.calls.deployments.hook_decisions import add_decisions

        results = [remark.result for _, remark in report.remarks if remark.result is not None]
        for segment in batch.segments if results else ():
            view = self._executions.get(segment.execution)
            if view is None:
                continue  # the execution has ended: nothing of it is called any more
            found: Decisions = dict(view.decisions)
            mine = [remark.result for _, remark in report.remarks if remark.graph == segment.graph]
            add_decisions(found, mine)
            self._executions[segment.execution] = altered(view, decisions=found)

    def execution(self, execution: int, deployment: int) -> ExecutionContext:
        """The execution as its calls see it. ``KeyError`` if the store has none of this number."""
        if execution not in self._executions:
            wanted = row_queries.ExecutionQuery(numbers=(execution,), deployments=(deployment,))
            for row in self._store.listings.executions(wanted):
                self.begin(row)
        return self._executions[execution]

    def add_graph(self, graph_id: int, graph: Graph) -> None:
        """Add a new graph to the cache, so that it is not read from the store."""
        self._policies[graph_id] = graph.policies
        self._data[graph_id] = {}

    def policies(self, graph_id: int) -> tuple[Policy, ...]:
        """The table that the ``policies`` column of a segment points into."""
        found = self._policies.get(graph_id)
        if found is None:
            found = self._policies[graph_id] = self._store.graph(graph_id).policies
        return found

    def data(self, graph_id: int) -> dict[int, Value]:
        """{position: data that an earlier call of the entry left for the next one}; may be written."""
        if graph_id not in self._data:
            self.keep_data(graph_id, self._store.notes(graph_id))
        return self._data[graph_id]

    def keep_data(self, graph_id: int, notes: Sequence[NoteRow]) -> None:
        """Take the data of a graph's entries from their stored notes, opened where it was sealed."""
        found = {note.position: note.result for note in notes if note.result is not None}
        opened = {position: self.secrets.unsealed(result) for position, result in found.items()}
        self._data.setdefault(graph_id, {}).update(opened)

    def doubted(self, graph_id: int) -> dict[int, int]:
        """{position: number of calls that ended unseen}; an instance that is called again is removed."""
        return self._doubted.setdefault(graph_id, {})

    def drop_execution(self, execution: int) -> None:
        """Forget the view of an execution that has ended."""
        self._executions.pop(execution, None)

    def drop_graph(self, graph_id: int) -> None:
        """Forget a graph that the scheduler has dropped; what its entries left is read again if it is restored."""
        self._policies.pop(graph_id, None)
        self._data.pop(graph_id, None)
        self._doubted.pop(graph_id, None)
