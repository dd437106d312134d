"""All workflows in any order while everything goes wrong: what is there is what a model says, and in the end nothing is left.

The worlds are those of ``test_scaling``, and between two scales deployments are healed, updated, checked, reinstalled, restarted or rolled
back. Whatever is called is for an instance that is there (``Scaled.look_at``), whatever is gone has left nothing.
"""

from __future__ import annotations

import pytest
from tests.simulation.test_scaling import Scaled

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Blueprint, Node
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.execution.stored_plans import PLAN, Aim, StoredPlan
from phaseline.model.graph.batch_members import GraphSegment
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import ExecutionRow, NewExecution
from phaseline.plan.requests.request_validation import check
from phaseline.testing.builders import node, operation, relationship
from phaseline.testing.simulation.world import LIMITS, USER, Life, let_go

SEEDS = range(10)
CHECK = "cloudify.interfaces.validation.check_status"
HEAL = "cloudify.interfaces.lifecycle.heal"
UPDATE = "cloudify.interfaces.lifecycle.update"
FORMS = ("each_again", "bulk_again", "small_again", "each")
OTHERS = (
    "heal",
    "heal",
    "update",
    "update",
    "update",
    "reinstall",
    "restart",
    "check_status",
    "check_drift",
    "rollback",
)
KEPT = {"reinstall": State.STARTED, "heal": State.STARTED, "update": State.STARTED}
"""What everybody is in when such a workflow has completed."""


class DayTwo(Scaled):
    """A world in which any workflow may follow any other."""

    def look_at(self, segment: GraphSegment, phase: str) -> None:
        """As there; but a stop is called for whoever is chosen, in whatever state (W26)."""
        (workflow,) = (row.request.workflow for row in self.store.executions() if row.number == segment.execution)
        if workflow != "restart":
            super().look_at(segment, phase)

    def _submit(self, life: Life) -> None:
        if life.workflow in {"install", "uninstall", "scale"}:
            super()._submit(life)
            return
        topology = self.store.topology(life.deployment)
        asked = self.asked_for(life, topology)
        request = Request(life.workflow, asked, RetryPolicy(2, 1.0), self.dice.one(*LIMITS))
        problems = check(topology, request)
        assert not problems, problems
        row = self.store.create_execution(NewExecution(life.deployment, request, USER, self.clock.now()))
        life.execution, life.tries, life.wished_at, life.cleaned_at = row.id, 0, 0, 0
        self.say(f"{row.id}: a user asks for {life.workflow} {asked}")
        self.engine.submit(row)

    def asked_for(self, life: Life, topology: Topology) -> dict[str, object]:
        """The parameters."""
        if life.workflow == "update":
            aim = Aim(self.another(topology), {}, CodeLocation("/nowhere"), suffixes=self.dice.random.randrange(10_000))
            retries = RetryPolicy(2, 1.0)
            plan = StoredPlan(
                0, life.deployment, Request("update", retries=retries), self.clock.now(), "", {}, {}, "", aim
            )
            return {PLAN: self.store.stored_plans.add(plan).number, "ignore_failure": self.dice.one(True, False)}
        if life.workflow == "heal":
            return {"ignore_failure": self.dice.one(True, False), "force_reinstall": self.dice.happens(0.1)}
        if life.workflow == "reinstall":
            return {"ignore_failure": self.dice.one(True, False)}
        return {}

    def another(self, topology: Topology) -> Blueprint:
        """The blueprint with a node that says something else, perhaps without one that came later, or with one more."""
        written = topology.blueprint
        nodes = dict(written.nodes)
        changed = nodes[self.dice.one(*nodes)]
        region = "b" if changed.properties.get("region") == "a" else "a"
        nodes[changed.name] = self.tended(altered(changed, properties={**changed.properties, "region": region}))
        extra = [name for name in nodes if name.startswith("x")]
        if extra and self.dice.happens(0.5):
            del nodes[extra[-1]]
        elif self.dice.happens(0.4):
            name = f"x{len(topology)}"
            to = relationship(
                self.dice.one(*written.nodes),
                source={"establish": "each_again.establish", "unlink": "each_again.unlink"},
            )
            nodes[name] = node(
                name, to, properties={"region": "a"}, create="each_again.create", delete="each_again.delete"
            )
        return altered(written, nodes=nodes)

    def tended(self, known: Node) -> Node:
        """The node with operations by which it is checked, healed and updated, some of them."""
        more = {
            name: operation(name, f"{self.dice.one(*FORMS)}.{name.rpartition('.')[2]}")
            for name in (CHECK, HEAL, UPDATE)
            if name not in known.operations and self.dice.happens(0.6)
        }
        return altered(known, operations={**known.operations, **more})

    def _after_the_end(self, life: Life, row: ExecutionRow) -> None:
        topology = self.store.topology(life.deployment)
        if life.workflow in {"install", "uninstall", "scale"}:
            super()._after_the_end(life, row)
            return
        counts = self.counts.setdefault(life.deployment, {})
        for name in counts.keys() - topology.blueprint.nodes.keys() - topology.blueprint.scaling_groups.keys():
            del counts[name]
        if topology.started is None:
            self.compare(life, topology)
        if row.status is ExecutionStatus.COMPLETED:
            self.look_at_states(life, row, topology)
        if row.status is ExecutionStatus.COMPLETED or (topology.started is None and self.dice.happens(0.5)):
            self.next_scale(life, topology)
        else:
            self._retry(life, row)

    def look_at_states(self, life: Life, row: ExecutionRow, topology: Topology) -> None:
        """Whoever was to be brought up is up."""
        wanted = KEPT.get(row.request.workflow)
        states = self.store.states(life.deployment)[topology.is_there]
        if wanted is not None and row.request.workflow == "reinstall":
            assert set(states.tolist()) <= {wanted}, f"after {row.id} there are {states.tolist()}"

    def next_scale(self, life: Life, topology: Topology) -> None:
        """Something else as often as a scale, while nothing is under way."""
        if topology.started is None and self.left[life.deployment] > 0 and self.dice.happens(0.6):
            self.left[life.deployment] -= 1
            life.workflow = self.dice.one(*OTHERS)
            self._submit(life)
        else:
            super().next_scale(life, topology)


@pytest.mark.parametrize("seed", SEEDS)
def test_w30_w45_w60_n8_any_workflow_may_follow_any_other_whatever_happens(seed: int) -> None:
    world = DayTwo(seed)
    try:
        world.live()
    except AssertionError as error:
        raise AssertionError("\n".join([str(error), *world.story.lines[-60:]])) from error
    finally:
        let_go(world.engine, world, world.store)
