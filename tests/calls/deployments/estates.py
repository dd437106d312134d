"""Deployments in a store in memory that read one another, for tests of the views and records of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from tests.store import builders as a

from phaseline.dsl.deployment.other_reads import dependencies_of
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Output, Value
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.execution.events import Changes, StatesEntered
from phaseline.model.rows.causes import CauseKey
from phaseline.model.rows.rows import DeploymentRow, DocumentChange, NewDeployment, Turn, TurnPayload
from phaseline.store.memory.store import MemoryStore
from phaseline.testing.builders import blueprint, node, topology


class Estate:
    """A store with deployments of one node ``host`` each."""

    def __init__(self) -> None:
        self.store = MemoryStore(a.FakeClock())

    def add(
        self,
        name: str,
        *,
        capabilities: Mapping[str, Value] | None = None,
        outputs: Mapping[str, Value] | None = None,
        labels: Mapping[str, Sequence[Value]] | None = None,
        tenant: str = "default_tenant",
        is_living: bool = True,
        instances: int = 1,
        cause: CauseKey | None = None,
    ) -> DeploymentRow:
        """Store a deployment whose instances are started, unless ``is_living`` is false."""
        made = altered(
            blueprint(node("host", instances=instances)),
            capabilities={key: Output(value) for key, value in (capabilities or {}).items()},
            outputs={key: Output(value) for key, value in (outputs or {}).items()},
            labels=labels or {},
        )
        actor = altered(a.ANN, tenant=tenant)
        new = NewDeployment(
            name, made, {}, topology(made), CodeLocation("/x"), actor, 1, dependencies=dependencies_of(made),
            cause=cause,
        )  # fmt: skip
        number, _ = self.store.of(tenant).create_deployment(new)
        if is_living:
            self.enter(number, range(instances), InstanceState.STARTED)
        row = self.store.of(tenant).deployment(name)
        assert row is not None
        return row

    def enter(self, number: int, instances: Sequence[int], state: InstanceState) -> None:
        """Commit a state of instances."""
        self.commit(states=(StatesEntered(number, (int(state),), np.array(instances, np.int32)),))

    def write(self, number: int, instance: int, key: str, value: Value) -> None:
        """Commit a runtime property."""
        self.commit(TurnPayload(documents=(DocumentChange(number, instance, {(key,): value}),)))

    def commit(self, payload: TurnPayload = TurnPayload(), **changes: object) -> None:  # noqa: B008 - never changed
        """Write a turn."""
        with self.store.own("test"):
            self.store.commit(Turn(1, Changes(**changes), payload))  # type: ignore[arg-type]  # fields of the changes
