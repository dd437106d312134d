"""Data that a hook can look up beyond its deployment's present state: target of an update, other deployments."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from phaseline.calls.protocol.hook_lookup import Approval, Usage
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label, changed, labelled, labels_of
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.execution.pre_post import OPENING
from phaseline.model.rows import row_queries
from phaseline.model.rows.rows import RequestKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.calls.protocol.call import DeploymentLookup
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.labels import Relabelled
    from phaseline.plan.rounds.round_preview import PreviewedRounds
    from phaseline.ports.tenant_store import StoreRows

UNMADE = (InstanceState.UNINITIALIZED, InstanceState.DELETED)


class ExecutionHookLookup:
    """Implements ``HookLookup`` for one execution. Thread-safe: what it reads is never changed in place."""

    def __init__(
        self,
        execution: int,
        store: StoreRows,
        leads_to: Callable[[int], PreviewedRounds | None],
        inputs_then: Callable[[], Mapping[str, Value] | None],
    ) -> None:
        """Store the number of an execution, 0 in a preview, and two functions.

        ``leads_to`` returns what an execution will have done if nothing fails. ``inputs_then`` returns the inputs
        after it, or None if it does not change them.
        """
        self._execution, self._store = execution, store
        self._leads_to, self._inputs_then = leads_to, inputs_then
        self._targets: dict[bool, LoadedDeployment] = {}

    def target(self, now: DeploymentLookup, *, takes_back: bool = False) -> LoadedDeployment:
        """Return the deployment as it will be after the execution, computed once. Raises ``ProblemsError``.

        With ``takes_back`` the execution is being undone, so the deployment keeps its former inputs.
        """
        found = self._targets.get(takes_back)
        if found is None:
            now = cast("LoadedDeployment", now)
            foreseen = self._leads_to(self._execution)
            found = now.as_is()
            change = self._relabels()
            if change is not None:
                then = changed(list(labels_of(found.blueprint.labels)), change)
                found.blueprint = labelled(altered(found.blueprint, labels={}), then)
            elif foreseen is not None:
                inputs = None if takes_back else self._inputs_then()
                labels = found.blueprint.labels
                found.reshape(foreseen.topology, now.inputs if inputs is None else inputs, now.view.code)
                found.blueprint = altered(found.blueprint, labels={**found.blueprint.labels, **labels})
            self._targets[takes_back] = found
        return found

    def _relabels(self) -> Relabelled | None:
        """Return the label changes of an execution that changes labels, or None for another workflow."""
        if not self._execution:
            return None
        from phaseline.plan.workflows.bookkeeping import RELABEL, requested_labels

        row = next(iter(self._store.listings.executions(row_queries.ExecutionQuery(numbers=(self._execution,)))), None)
        return requested_labels(row.request) if row is not None and row.request.workflow == RELABEL else None

    def approvals(self) -> Sequence[Approval]:
        """Return the approvals that users gave for the execution, oldest first."""
        return [
            Approval(asked.actor.name, str(asked.body.get("plan")), asked.at / 1000, str(asked.body.get("reason", "")))
            for asked in self._store.requests_of(self._execution)
            if asked.kind is RequestKind.APPROVE
        ]

    def usage(self, key: str, value: str) -> Sequence[Usage]:
        """Return the deployments that have this label, by name, with their numbers of instances by type.

        Instances that an earlier open execution may create are counted too. Of two executions that ask at the same
        time, the later one thus counts the instances of the earlier one, but not the reverse.
        """
        store = self._store
        having = store.labels.having([Label(key, value)])
        making = {row.deployment for row in store.executions(only_open=True) if self._comes_first(row.number)}
        return [
            self._usage(row.number, row.name, is_making=row.number in making)
            for row in store.deployments()
            if row.number in having
        ]

    def _comes_first(self, other: int) -> bool:
        """Return True if another open execution is older or has passed its pre hooks; always True in a preview."""
        if not self._execution or other < self._execution:
            return True
        return other != self._execution and any(
            not graph.name.startswith(OPENING) for graph in self._store.graphs(other)
        )

    def _usage(self, number: int, name: str, *, is_making: bool) -> Usage:
        topology = self._store.topology(number)
        counts = topology.is_there
        if not is_making:
            states = np.array(self._store.states(number), np.uint8)[: len(topology)]
            counts = counts & ~np.isin(states, UNMADE)
        found: dict[tuple[str, ...], int] = {}
        for node, many in zip(
            topology.nodes, np.bincount(topology.node[counts], minlength=len(topology.nodes)), strict=True
        ):
            types = tuple(node.type_hierarchy)
            found[types] = found.get(types, 0) + int(many)
        return Usage(name, found)
