"""The deployments, executions and policies that running batches refer to, loaded from the store when first needed.

Used only by the thread that runs a turn (``turn_thread``). Only ``LoadedDeployment`` may be used by any thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from phaseline.calls.deployments.call_subjects import LoadedDeployment
from phaseline.calls.protocol import no_secrets
from phaseline.calls.protocol.call import ExecutionContext
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import PARENT_LABEL, Label, changed, labelled, labels_of
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
    from phaseline.calls.deployments.other_deployments import CapabilityMemo
    from phaseline.calls.protocol.reports import CallReport
    from phaseline.dsl.functions.other_deployments import CapabilityReads
    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.stack_documents import DocumentKind, NewDocument
    from phaseline.model.execution.events import Batch, StatesEntered
    from phaseline.model.execution.execution import Reshape
    from phaseline.model.execution.stored_plans import Aim
    from phaseline.model.graph.graph import Graph, Policy
    from phaseline.model.health.checks import NewCheckResults
    from phaseline.model.phases.definitions import PhaseDefinition
    from phaseline.model.rows.dependencies import ConsumerDependencies
    from phaseline.model.rows.rows import DeploymentRow, EventRow, ExecutionRow, NoteRow, Reshaped
    from phaseline.plan.rounds.round_preview import PreviewedRounds
    from phaseline.plan.topology.stack_document import FilesTaken
    from phaseline.ports.estate import Estate
    from phaseline.ports.secrets import SecretSource
    from phaseline.ports.tenant_store import StoreRows


def no_phase(_name: str) -> PhaseDefinition | None:
    """Return None: the default of ``find_phase`` while no plugins have been read."""
    return None


def nowhere(_execution: int) -> PreviewedRounds | None:
    """Return None, as no preview of an execution can be made: the default of ``DeploymentCache.leads_to``."""
    return None


def nobodys(_deployment: int, _code: CodeLocation, _file: str) -> FilesTaken | None:
    """Return None, as no files of a blueprint can be read: the default of ``DeploymentCache.files_of``."""
    return None


def no_estate() -> Estate | None:
    """Return None: the default of ``DeploymentCache.find_estate``."""
    return None


class DeploymentCache:
    """Deployments, executions and graphs in memory, by number. ``names``: the store's names in tokens, by graph."""

    def __init__(
        self,
        store: StoreRows,
        secrets: SecretSource | None = None,
        part_of: Callable[[str], StoreRows] | None = None,
    ) -> None:
        """``part_of`` returns what a tenant has in the store; None if ``store`` is that of the only tenant."""
        self._store = store
        self._part_of: Callable[[str], StoreRows] = part_of or (lambda _tenant: store)
        self.provider_uses: set[tuple[int, str, int]] = set()
        """(consumer, text of a function, number of the provider that it has computed), for records not stored yet (DP5)."""
        self.secrets: SecretSource = no_secrets.NoSecrets() if secrets is None else secrets
        self.names = Names(store.identity(), store.incarnations.all())
        self._loaded: dict[int, LoadedDeployment] = {}
        self._stale: set[int] = set()
        self._names: dict[int, str] = {}
        self._executions: dict[int, ExecutionContext] = {}
        self._policies: dict[int, tuple[Policy, ...]] = {}
        self._data: dict[int, dict[int, Value]] = {}
        self._doubted: dict[int, dict[int, int]] = {}
        self.used: set[int] = set()
        """Deployments that were loaded, or of which an execution began or the last open one ended.

        ``Eviction`` reads this set and empties it.
        """
        self.find_phase: FindPhase = no_phase
        self.leads_to: Callable[[int], PreviewedRounds | None] = nowhere
        """Function that returns what an execution (number) will have done if nothing fails from here on."""
        self.files_of: Callable[[int, CodeLocation, str], FilesTaken | None] = nobodys
        """Function that returns the files of a blueprint, for a deployment number, its code and its main file."""
        self.find_estate: Callable[[], Estate | None] = no_estate
        """Function that returns what calls in this process may ask about deployments, executions and blueprints."""

    def loaded(self, deployment: int) -> LoadedDeployment:
        """Return a deployment, read from the store if necessary. Raises ``KeyError`` if it was deleted."""
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
                    secrets=self.secrets.of_tenant(row.tenant),
                    tenant=row.tenant,
                )
            found.named = lambda execution: self.name_of(execution, deployment)
            found.look_beyond = lambda memo: self._reads((deployment, row.name, row.tenant), memo)
            self._loaded[deployment] = found
            self.used.add(deployment)
        return found

    def records(
        self, shapes: Sequence[Reshaped], ended: Sequence[ExecutionRow], now: Callable[[], int]
    ) -> tuple[tuple[ConsumerDependencies, ...], tuple[EventRow, ...]]:
        """Return the records of dependencies that change in a turn, and warnings about circles (DP5).

        ``shapes`` are the deployments that the turn changes, ``ended`` the executions that end with it.
        """
        readers = [row for row in ended if (held := self.held(row.deployment)) is not None and held.reads_others]
        renewed = [row for row in shapes if row.blueprint is not None]
        if not (self.provider_uses or readers or renewed):
            return (), ()
        from phaseline.calls.deployments import dependency_records as made  # few deployments read others

        found: dict[int, ConsumerDependencies | None] = {
            row.deployment: made.of_reshaped(self._store, row) for row in renewed
        }
        uses: dict[int, list[tuple[str, int]]] = {}
        while self.provider_uses:
            consumer, text, number = self.provider_uses.pop()
            uses.setdefault(consumer, []).append((text, number))
        for consumer, used in uses.items():
            if consumer not in found and self._living(consumer) is not None:
                found[consumer] = made.of_used(self._store, self.loaded(consumer).blueprint, consumer, used)
        events = []
        for row in readers:
            loaded = self.loaded(row.deployment)
            records = found[row.deployment] = made.at_end(self._store, self._part_of(row.tenant), loaded)
            warning = made.circle_event(self._store, row, records, now())
            events += [] if warning is None else [warning]
        return tuple(one for one in found.values() if one is not None), tuple(events)

    def refuse_if_read(self, row: ExecutionRow, foresee: Callable[[], PreviewedRounds | None]) -> None:
        """Raise PL-C131 if an execution that begins would touch what a living deployment reads (DP8).

        ``foresee`` returns the rounds of the execution, for a workflow whose plan decides what it removes.
        """
        part = self._part_of(row.tenant)
        loaded = self.loaded(row.deployment)
        children = part.labels.having([Label(PARENT_LABEL, loaded.view.id)]) - {row.deployment}
        if not children and not (part.has_dependencies and part.dependencies.on(row.deployment, limit=1)):
            return
        from phaseline.calls.deployments import blocking_consumers as consumers  # few deployments are read by others
        from phaseline.calls.deployments.estate.inner_deployments import outer_of_execution
        from phaseline.plan.requests import touched

        stored = self._living(row.deployment)
        topology = loaded.topology
        instances = touched.touched_at_once(topology, row.request, loaded.checks.checks)
        if touched.meant_workflow(topology, row.request.workflow) in touched.BY_PLAN:
            found = foresee()
            instances = touched.removed(topology, topology if found is None else found.topology)
        if stored is not None:
            outer = outer_of_execution(part, row.number)
            blocking = consumers.blocking(part, stored, topology, consumers.Touch(instances), outer=outer)
            consumers.raise_if_read(stored, blocking, row.request.workflow)

    def _reads(self, consumer: tuple[int, str, str], memo: CapabilityMemo | None) -> CapabilityReads:
        """Return what reads other deployments for a consumer: its (number, name, tenant). Any thread may use it."""
        from phaseline.calls.deployments.other_deployments import OtherDeployments  # few deployments read others
        from phaseline.dsl.functions.other_deployments import CapabilityReads

        store, secrets = self._part_of(consumer[2]), self.secrets.of_tenant(consumer[2])
        noted = lambda *use: self.provider_uses.add(use)  # noqa: E731 - a set may be added to by any thread
        return CapabilityReads(OtherDeployments(store, secrets, consumer, memo=memo, noted=noted))

    def row(self, execution: int) -> ExecutionRow:
        """Return the stored row of an execution. Raises ``KeyError`` if it was purged."""
        for row in self._store.listings.executions(row_queries.ExecutionQuery(numbers=(execution,))):
            return row
        raise KeyError(execution)

    def exists(self, deployment: int) -> bool:
        """Return True unless the deployment was deleted, by any process."""
        return self._living(deployment) is not None

    def _living(self, deployment: int) -> DeploymentRow | None:
        """Return the stored row of a deployment, or None if it was deleted."""
        name = self._names.get(deployment)
        row = None if name is None else self._store.deployment(name)
        if row is not None and row.number == deployment:
            return row
        # its name is not known, or another deployment has it now
        return next(iter(self._store.listings.deployments(row_queries.DeploymentQuery(numbers=(deployment,)))), None)

    def name_of(self, execution: int, deployment: int) -> str:
        """Return the id of an execution, or '' if it was purged."""
        known = self._executions.get(execution)
        if known is not None:
            return known.id
        rows = self._store.listings.executions(
            row_queries.ExecutionQuery(numbers=(execution,), deployments=(deployment,))
        )
        return next((row.id for row in rows), "")

    def grow(self, deployment: int, count: int) -> LoadedDeployment:
        """Return the deployment, after reading instances from the store if fewer than ``count`` are in memory."""
        found = self.loaded(deployment)
        if len(found.topology) < count:
            store, before = self._store, len(found.topology)
            topology = store.topology(deployment)
            added = range(before, len(topology))
            states = np.array(store.states(deployment), np.uint8)[before:]
            found.grow(topology, self._documents(deployment, added), states)
        return found

    def aim_of(self, row: ExecutionRow) -> Aim | None:
        """Return the aim of an update, stored with the plan that its request names, or None."""
        from phaseline.model.execution.stored_plans import PLAN  # few executions carry one out

        number = row.request.parameters.get(PLAN)
        plan = self._store.stored_plans.find(number) if isinstance(number, int) else None
        return None if plan is None or plan.deployment != row.deployment else plan.aim

    def written_down(self, row: ExecutionRow, answer: Reshape, now: Callable[[], int]) -> PlannerWrites | None:
        """Return further rows that a planner's answer asks to store with its round, or None if it asks for none.

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
        """Return a deployment as a document with all that is needed to adopt it after its records here are removed."""
        from phaseline.calls.deployments.stack_export import NO_FILES, new_document
        from phaseline.model.deployment.stack_documents import ABANDONED

        loaded = self.loaded(row.deployment)
        files = self.files_of(row.deployment, loaded.view.code, loaded.blueprint.file) if kind == ABANDONED else None
        return new_document(self._store, loaded, row, kind, name, files or NO_FILES)

    def reshape(self, row: Reshaped) -> None:
        """Apply a new topology, with its blueprint and inputs, in memory; the same turn stores it afterwards."""
        found, blueprint = self.loaded(row.deployment), row.topology.blueprint
        inputs = found.inputs if row.inputs is None else self._opened(row.inputs, blueprint)
        code = found.view.code if row.code is None else altered(row.code, packages=found.view.code.packages)
        found.reshape(row.topology, inputs, code)
        kept = {*self._store.labels.of(row.deployment), *labels_of(blueprint.labels)}
        found.blueprint = labelled(found.blueprint, sorted(kept))

    def _inputs(self, deployment: int) -> Mapping[str, Value]:
        return self._opened(self._store.inputs(deployment), self._store.blueprint(deployment))

    def _opened(self, inputs: Mapping[str, Value], blueprint: Blueprint) -> Mapping[str, Value]:
        """Return the inputs with secrets decrypted. From now on those secrets are masked in everything written."""
        hidden = hidden_inputs(blueprint)
        opened = {name: self.secrets.unsealed(value) if name in hidden else value for name, value in inputs.items()}
        self.secrets.learn([opened[name] for name in hidden if name in opened])
        return opened

    def _documents(self, deployment: int, instances: Sequence[int] | None = None) -> Mapping[int, dict[str, Value]]:
        """Return runtime properties, decrypted where needed; skip the search if the store has no encrypted values."""
        found = self._store.documents(deployment, instances)
        if not self.secrets.has_seals:
            return found
        return {number: cast("dict[str, Value]", self.secrets.unsealed(body)) for number, body in found.items()}

    def name_states(self, deployment: int, wanted: Iterable[str]) -> Mapping[str, int]:
        """Return {state: its number} for all states of a deployment; store those of ``wanted`` that are new."""
        found = self.loaded(deployment)
        if missing_names(found.state_names, wanted):
            found.state_names = self._store.name_states(deployment, list(dict.fromkeys(wanted)))
        return state_numbers(found.state_names)

    def renew(self) -> None:
        """Note that plugins were reloaded: each loaded deployment looks up its code again at its next execution."""
        self._stale.update(self._loaded)

    def _look_for_code(self, row: ExecutionRow) -> None:
        """Read again which packages a deployment uses, because they may have changed."""
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
        """Return the deployment if it is in memory, else None; the store is not read."""
        return self._loaded.get(deployment)

    def forget(self, deployment: int) -> None:
        """Drop the deployment from memory; it is read again when it is needed."""
        self._loaded.pop(deployment, None)
        self._names.pop(deployment, None)
        self._stale.discard(deployment)

    def entered(self, changes: Sequence[StatesEntered]) -> None:
        """Apply the state changes that a turn stores to the deployments in memory."""
        for change in changes:
            loaded = self._loaded.get(change.deployment)
            if loaded is not None and change.states:
                loaded.enter(change.states, change.subjects)

    def checked(self, made: Sequence[NewCheckResults]) -> None:
        """Apply the check results that a turn stores to the deployments in memory."""
        for results in made:
            self.loaded(results.deployment).checks.record(results)

    def begin(self, row: ExecutionRow) -> None:
        """Add an execution to the cache, so that its calls need not read it from the store."""
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
            tenant=row.tenant,
            is_resumed=row.attempt > 0,
            decisions=self._decided(row) if around.hooks else {},
            around=around,
            ground=self._ground(row) if around.hooks else None,
        )

    def _ground(self, row: ExecutionRow) -> ExecutionHookLookup:
        from phaseline.calls.deployments.hook_lookups import ExecutionHookLookup  # only where there are hooks

        return ExecutionHookLookup(row.number, self._store, self.leads_to, lambda: self._aimed_inputs(row))

    def _aimed_inputs(self, row: ExecutionRow) -> Mapping[str, Value] | None:
        """Return the inputs of the target of an update, or None if the execution has no target."""
        aim = self.aim_of(row)
        return None if aim is None else self._opened(aim.inputs, aim.blueprint)

    def _decided(self, row: ExecutionRow) -> Decisions:
        from phaseline.calls.deployments.hook_decisions import decided

        return decided(self._store, row)

    def decide(self, batch: Batch, report: CallReport) -> None:
        """Apply the decisions that hooks returned for instances, before calls for these instances are made."""
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
        """Return the view of an execution that its calls get. Raises ``KeyError`` if the store does not have it."""
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
        """Return the policies of a graph; the column ``policies`` of a segment contains indexes into them."""
        found = self._policies.get(graph_id)
        if found is None:
            found = self._policies[graph_id] = self._store.graph(graph_id).policies
        return found

    def data(self, graph_id: int) -> dict[int, Value]:
        """Return {position: data that an earlier call of the entry left for the next one}; callers may change it."""
        if graph_id not in self._data:
            self.keep_data(graph_id, self._store.notes(graph_id))
        return self._data[graph_id]

    def keep_data(self, graph_id: int, notes: Sequence[NoteRow]) -> None:
        """Add the data of a graph's entries from their stored notes, decrypted."""
        found = {note.position: note.result for note in notes if note.result is not None}
        opened = {position: self.secrets.unsealed(result) for position, result in found.items()}
        self._data.setdefault(graph_id, {}).update(opened)

    def doubted(self, graph_id: int) -> dict[int, int]:
        """Return {position: number of calls whose end is unknown}; an instance's entry is removed at its next call."""
        return self._doubted.setdefault(graph_id, {})

    def drop_execution(self, execution: int) -> None:
        """Drop the view of an execution that has ended."""
        self._executions.pop(execution, None)

    def drop_graph(self, graph_id: int) -> None:
        """Drop a graph that the scheduler has dropped; the data of its entries is read again if it is restored."""
        self._policies.pop(graph_id, None)
        self._data.pop(graph_id, None)
        self._doubted.pop(graph_id, None)
