"""What a deployment sees of the others: their capabilities as committed in the store (DP1, DP2, DP12).

Calls, outputs and plans read other deployments through ``OtherDeployments``. It reads the store, not the engine's copies in
memory, so a consumer never sees what no turn has committed, and any thread may use it.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from phaseline.calls.protocol.secret_tracking import Watch
from phaseline.dsl.deployment.other_reads import literal_provider, text_of
from phaseline.dsl.functions.other_deployments import CapabilityReads
from phaseline.dsl.functions.plan_and_runtime_scopes import RuntimeScope
from phaseline.dsl.functions.topology_view import TopologyInstances, display_name, facts_of
from phaseline.model.blueprint.labels import PARENT_LABEL, Label, labelled
from phaseline.model.deployment.sealed_values import hidden_inputs
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows import row_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from phaseline.dsl.functions.other_deployments import Provider, Reading
    from phaseline.model.blueprint.blueprint import Output, Value
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.ports.secrets import SecretSource
    from phaseline.ports.tenant_store import StoreRows

READ_AT_ONCE = 1_000
"""Most instances of a provider whose runtime properties are read together; of a larger one, those that are needed."""
COUNTED_CONSUMERS = frozenset({"capability", "environment", "group", "shared", "parent"})
"""Kinds of records whose consumers ``get_consumers`` counts: not components, and not those that a plugin has made (DP13)."""


class CapabilityMemo:
    """Values of capabilities, each computed once: what the members of one batch share. Any thread may use it."""

    def __init__(self) -> None:
        """Begin without values."""
        self._guard = threading.RLock()
        self._values: dict[tuple[str, str, str], tuple[Value, bool] | ProblemsError] = {}
        self._providers: dict[tuple[str, str], ProviderSnapshot | None] = {}
        self.evaluated = 0
        """Number of evaluations."""

    def once(
        self, tenant: str, provider: str, capability: str, compute: Callable[[], tuple[Value, bool]]
    ) -> tuple[Value, bool]:
        """Return the value of a capability, and whether it is a secret; compute it if it was not computed before.

        An error is kept like a value and raised again.
        """
        key = tenant, provider, capability
        with self._guard:
            found = self._values.get(key)
            if found is None:
                self.evaluated += 1
                try:
                    found = compute()
                except ProblemsError as error:
                    found = error
                self._values[key] = found
        if isinstance(found, ProblemsError):
            raise found
        return found

    def provider(self, tenant: str, name: str, read: Callable[[], ProviderSnapshot | None]) -> ProviderSnapshot | None:
        """Return a deployment as it was when this memo first read it, or None if there was none."""
        key = tenant, name
        with self._guard:
            if key not in self._providers:
                self._providers[key] = read()
            return self._providers[key]


class ProviderSnapshot:
    """A deployment as committed at one moment; implements ``Provider``."""

    def __init__(self, store: StoreRows, row: DeploymentRow, secrets: SecretSource) -> None:
        """Read the deployment ``row`` from the tenant's store. ``secrets`` are those of the tenant."""
        self._store, self._secrets = store, secrets
        self.row = row
        with store.at_once():
            self._topology = store.topology(row.number)
            self._labels = store.labels.of(row.number)
            self._stored_inputs = store.inputs(row.number)
            is_small = len(self._topology) <= READ_AT_ONCE
            self._documents: dict[int, Mapping[str, Value]] | None = (
                {number: self._opened(body) for number, body in store.documents(row.number).items()}
                if is_small
                else None
            )
        self.blueprint = labelled(self._topology.blueprint, self._labels)

    @property
    def name(self) -> str:
        """Return the name of the deployment."""
        return self.row.name

    @property
    def capabilities(self) -> Mapping[str, Output]:
        """Return the capabilities that the blueprint declares, with their functions."""
        return self.blueprint.capabilities

    def scope(self, others: CapabilityReads) -> RuntimeScope:
        """Return a scope for one evaluation; its watcher notices whether a secret was read."""
        row, topology = self.row, self._topology
        scope = RuntimeScope(
            self._inputs,
            {node.name: node.properties for node in topology.nodes},
            TopologyInstances(topology, self._document),
            facts=facts_of(row.name, self.blueprint, row.created_by, row.tenant),
            others=lambda: others,
        )
        return Watch(self._inputs, hidden_inputs(self.blueprint), self._secrets).over(scope)

    @cached_property
    def _inputs(self) -> Mapping[str, Value]:
        stored = self._stored_inputs
        hidden = hidden_inputs(self.blueprint) & stored.keys()
        if not hidden:
            return stored
        opened = {name: self._secrets.unsealed(value) if name in hidden else value for name, value in stored.items()}
        self._secrets.learn([opened[name] for name in hidden])
        return opened

    def _document(self, instance: int) -> Mapping[str, Value]:
        if self._documents is not None:
            return self._documents.get(instance, {})
        return self._opened(self._store.documents(self.row.number, [instance]).get(instance, {}))

    def _opened(self, body: dict[str, Value]) -> Mapping[str, Value]:
        return cast("dict[str, Value]", self._secrets.unsealed(body)) if self._secrets.has_seals else body


class OtherDeployments:
    """What one deployment sees of the others of its tenant; implements ``Beyond``.

    ``noted`` is called with the number of the deployment, the text of a function and the number of a provider that a
    function computed, whenever such a function is evaluated.
    """

    def __init__(
        self,
        store: StoreRows,
        secrets: SecretSource,
        row: DeploymentRow | tuple[int, str, str],
        *,
        memo: CapabilityMemo | None = None,
        noted: Callable[[int, str, int], object] | None = None,
    ) -> None:
        """``store`` and ``secrets`` are those of the tenant. ``row``: the deployment, or its (number, name, tenant)."""
        self._store, self._secrets = store, secrets
        self._number, self._name, self._tenant = row if isinstance(row, tuple) else (row.number, row.name, row.tenant)
        self._memo = memo
        self._noted = noted

    def names(self) -> Sequence[str]:
        """Return the names of all deployments of the tenant."""
        return [row.name for row in self._store.deployments()]

    def provider(self, name: str) -> ProviderSnapshot | None:
        """Return the deployment of this name, or None."""
        if self._memo is None:
            return self._read(name)
        return self._memo.provider(self._tenant, name, lambda: self._read(name))

    def _read(self, name: str) -> ProviderSnapshot | None:
        row = self._store.deployment(name)
        return None if row is None else ProviderSnapshot(self._store, row, self._secrets)

    def environment(self) -> str | None:
        """Return the name of the deployment to which this one belongs, the oldest of several, or None."""
        return environment_of(self._store, self._store.labels.of(self._number))

    def members(self, group: str) -> Sequence[str] | None:
        """Return the names of the members of a deployment group, or None if there is no such group."""
        found = self._store.groups.find(group)
        return None if found is None else [member.name for member in self._store.groups.members(found)]

    def groups(self) -> Sequence[str]:
        """Return the names of all deployment groups."""
        return [row.name for row in self._store.groups.all()]

    def consumers(self) -> Sequence[tuple[str, str]]:
        """Return (name, display name) of the deployments that use this one (DP13)."""
        found = {one.consumer: one.name for one in self._store.dependencies.on(self._number) if is_counted(one)}
        children = self._store.listings.deployments(
            row_queries.DeploymentQuery(labels=(Label(PARENT_LABEL, self._name),))
        )
        found |= {row.number: row.name for row in children if row.number != self._number}
        return [(name, display_name(self._store.blueprint(number)) or name) for number, name in found.items()]

    def once(self, provider: str, capability: str, compute: Callable[[], tuple[Value, bool]]) -> tuple[Value, bool]:
        """Return the value of a capability and whether it is a secret; with a memo, computed once for all that share it."""
        return compute() if self._memo is None else self._memo.once(self._tenant, provider, capability, compute)

    def uses(self, reading: Reading, written: Mapping[str, Value], providers: Sequence[str]) -> None:
        """Note which deployment a function has read if its name is computed: the record follows when it is known (DP5)."""
        if self._noted is None or reading != "capability" or literal_provider("get_capability", _argument(written)):
            return
        text = text_of(written)
        for name in providers:
            found = self.provider(name)
            if found is not None:
                self._noted(self._number, text, found.row.number)

    def seen_from(self, provider: Provider) -> OtherDeployments:
        """Return what a provider sees of the others; what it reads there is noted with its own executions."""
        number = provider.row.number if isinstance(provider, ProviderSnapshot) else 0
        return OtherDeployments(self._store, self._secrets, (number, provider.name, self._tenant), memo=self._memo)


def _argument(written: Mapping[str, Value]) -> Any:
    return written.get("get_capability")


def is_counted(record: Any) -> bool:
    """Return True if a record makes its consumer count for ``get_consumers``."""
    return record.dependency.kind in COUNTED_CONSUMERS


def environment_of(store: StoreRows, labels: Sequence[Label]) -> str | None:
    """Return the name of the deployment that these labels name as the parent, or None; the oldest of several."""
    named = [one.value for one in labels if one.key == PARENT_LABEL]
    if len(named) < 2:
        return named[0] if named else None
    found = [row for name in named if (row := store.deployment(name)) is not None]
    return min(found, key=lambda row: row.number).name if found else named[0]
