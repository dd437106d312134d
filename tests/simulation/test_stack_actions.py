"""Suspend, resume, check, snapshot, restore, abandon and adopt between everything else, while everything goes wrong (H25-H27, H44).

The worlds are those of ``test_day_two``. What was abandoned is adopted from the document that it has left; what is there then, and who
is tied to whom, is what was there before, and nothing was called but checks. A restore brings back the counts of its snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.simulation.test_day_two import FORMS, DayTwo
from tests.simulation.test_scaling import nobodies

from phaseline.calls.deployments.stack_export import written_down
from phaseline.dsl.documents.json_codec import blueprint_from_json
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Node
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.deployment.stack_documents import ABANDONED, SNAPSHOT
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.execution.stored_plans import PLAN, Aim, StoredPlan
from phaseline.model.graph.batch_members import GraphSegment
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import DEFAULT_TENANT, ExecutionRow, NewDeployment
from phaseline.plan.graph import operation_names as op
from phaseline.plan.topology.adoption import NOT_THERE, same
from phaseline.testing.builders import operation
from phaseline.testing.simulation.world import USER, Life, let_go

SEEDS = range(14)
FOUND = (141,)
"""An instance that was deleted before is one that was never there after an adoption."""
WHOLE = ("suspend", "suspend", "resume", "check", "snapshot", "snapshot", "snapshot", "restore", "restore", "restore", "restore", "abandon", "abandon", "delete_snapshot", "mark_unhealthy")  # fmt: skip
MORE = (op.FREEZE_SUSPEND, op.FREEZE_RESUME, op.SNAPSHOT_CREATE, op.SNAPSHOT_APPLY, op.SNAPSHOT_DELETE)
MAY_CALL = {"abandon": set(), "adopt": {"check_status"}}
AFTER = {"suspend": State.STARTED, "resume": State.SUSPENDED}
"""{workflow: the state in which nobody is when it has completed}"""


class Whole(DayTwo):
    """A world in which deployments are frozen, written down, let go of and taken over again as well."""

    def __init__(self, seed: int) -> None:
        """As other worlds."""
        self.documents: dict[int, Mapping[str, Any]] = {}
        self.names = 0
        super().__init__(seed)

    def tended(self, known: Node) -> Node:
        """As there; and some of what is frozen and saved."""
        node = super().tended(known)
        more = {name: operation(name, f"{self.dice.one(*FORMS)}.{name.rpartition('.')[2]}") for name in MORE}
        chosen = {name: one for name, one in more.items() if name not in node.operations and self.dice.happens(0.5)}
        return altered(node, operations={**node.operations, **chosen})

    def look_at(self, segment: GraphSegment, phase: str) -> None:
        """As there; an abandon calls nothing, an adoption nothing but checks, and nobody is stopped twice to be suspended."""
        (row,) = (one for one in self.store.executions() if one.number == segment.execution)
        allowed = MAY_CALL.get(row.request.workflow)
        assert allowed is None or phase in allowed, f"{row.id} calls {phase}"
        if row.request.workflow == "suspend":
            states = self.store.states(segment.deployment)[segment.subjects]
            assert set(states.tolist()) == {State.STARTED}, f"{phase} of {states.tolist()}"
        super().look_at(segment, phase)

    # -- users --------------------------------------------------------------------------------------------------

    def next_scale(self, life: Life, topology: Topology) -> None:
        """Something about the whole as often as not; while anybody is suspended nothing else."""
        states = self.store.states(life.deployment)[topology.is_there]
        is_frozen = bool((states == State.SUSPENDED).any())
        kept = self.store.stack_documents.all(SNAPSHOT, life.deployment)
        able = [one for one in WHOLE if kept or one not in {"restore", "delete_snapshot"}]
        if topology.started is not None or not (
            is_frozen or (self.left[life.deployment] > 0 and self.dice.happens(0.6))
        ):
            super().next_scale(life, topology)
            return
        self.left[life.deployment] -= 1
        frozen = ("resume", "resume", "suspend", "check", "snapshot", "abandon")
        is_late = self.left[life.deployment] < 0
        life.workflow = "resume" if is_frozen and is_late else self.dice.one(*(frozen if is_frozen else able))
        self._submit(life)

    def asked_for(self, life: Life, topology: Topology) -> dict[str, object]:
        """The parameters."""
        if life.workflow == "snapshot":
            self.names += 1
            return {"snapshot_name": f"s{self.names}"}
        if life.workflow == "delete_snapshot":
            return {"snapshot_name": self.dice.one(*self.store.stack_documents.all(SNAPSHOT, life.deployment)).name}
        if life.workflow == "restore":
            return self.brought_back(life)
        if life.workflow == "mark_unhealthy":
            there = topology.is_there.nonzero()[0].tolist()
            return (
                {"node_instance_ids": [topology.ids[self.dice.one(*there)]]}
                if there
                else {"node_ids": list(topology.node_number)[:1]}
            )
        return super().asked_for(life, topology)

    def brought_back(self, life: Life) -> dict[str, object]:
        """The parameters of a restore, with its plan."""
        row = self.dice.one(*self.store.stack_documents.all(SNAPSHOT, life.deployment))
        document: Any = self.store.stack_documents.body(row)
        self.documents[life.deployment] = document
        native = document["phaseline"]
        up = [one["id"] for one in native["instances"] if one["state"] not in NOT_THERE]
        blueprint, seed = blueprint_from_json(document["template"]), self.dice.random.randrange(10_000)
        aim = Aim(blueprint, {}, CodeLocation("/nowhere"), suffixes=seed, counts=native["counts"])
        asked = Request("restore", retries=RetryPolicy(2, 1.0))
        plan = StoredPlan(0, life.deployment, asked, self.clock.now(), "", {}, {}, "", aim)
        number = self.store.stored_plans.add(plan).number
        return {PLAN: number, "snapshot_name": row.name, "was_up": up, "ignore_failure": self.dice.one(True, False)}

    def _after_the_end(self, life: Life, row: ExecutionRow) -> None:
        is_completed = row.status is ExecutionStatus.COMPLETED
        if life.workflow == "abandon" and is_completed:
            self.adopt(life, row)
        elif life.workflow == "adopt":
            if is_completed:
                self.look_at_adopted(life)
                self.next_scale(life, self.store.topology(life.deployment))
            else:
                self._retry(life, row)
        else:
            if life.workflow == "restore" and "finish" in [graph.name for graph in self.store.graphs(row.number)]:
                self.counts[life.deployment] = dict(self.documents[life.deployment]["phaseline"]["counts"])
            super()._after_the_end(life, row)

    def look_at_states(self, life: Life, row: ExecutionRow, topology: Topology) -> None:
        """As there; and nobody is left where the workflow has found him."""
        super().look_at_states(life, row, topology)
        states = self.store.states(life.deployment)[topology.is_there]
        unwanted = AFTER.get(row.request.workflow)
        assert unwanted is None or unwanted not in states.tolist(), f"after {row.id} there are {states.tolist()}"
        kept = {one.name for one in self.store.stack_documents.all(SNAPSHOT, life.deployment)}
        name = row.request.parameters.get("snapshot_name")
        assert row.request.workflow != "snapshot" or name in kept
        assert row.request.workflow != "delete_snapshot" or name not in kept

    # -- let go of and taken over -------------------------------------------------------------------------------

    def adopt(self, life: Life, row: ExecutionRow) -> None:
        """What is left of the deployment becomes another one."""
        former = life.deployment
        assert former not in {one.number for one in self.store.deployments()}, f"{row.id} has forgotten nothing"
        assert not self.store.stack_documents.all(SNAPSHOT, former)
        (left,) = (one for one in self.store.stack_documents.all(ABANDONED, former) if one.name == row.id)
        document = self.store.stack_documents.body(left)
        blueprint = blueprint_from_json(document["template"])
        found = same(document, blueprint)
        assert not found.problems
        new = NewDeployment(
            left.deployment_name,
            blueprint,
            {},
            found.topology,
            CodeLocation("/nowhere"),
            USER,
            self.clock.now(),
            documents=found.documents,
        )
        life.deployment, _ = self.store.create_deployment(new)
        number = life.deployment
        self.ledger.neighbours[number] = life.neighbours = nobodies(found.topology)
        self.counts[number], self.left[number] = self.counts.pop(former, {}), self.left.pop(former)
        self.documents[number] = document
        life.workflow = "adopt"
        self._submit(life)

    def _submit(self, life: Life) -> None:
        if life.workflow != "adopt":
            super()._submit(life)
            return
        states = same(self.documents[life.deployment], self.store.blueprint(life.deployment)).states
        row = self.store.create_execution(self.new(life, {"document": "left.json", "states": dict(states)}))
        life.execution, life.tries, life.wished_at, life.cleaned_at = row.id, 0, 0, 0
        self.say(f"{row.id}: a user takes over what was left")
        self.engine.submit(row)

    def look_at_adopted(self, life: Life) -> None:
        """Written down once more it is what it was; only who was half made is taken for started."""
        store, number = self.store, life.deployment
        topology = store.topology(number)
        self.compare(life, topology)
        again = written_down(
            store,
            (number, "", DEFAULT_TENANT),
            (topology, store.states(number), store.documents(number)),
            CodeLocation("/nowhere"),
            state_names=(),
            doing=("", ""),
        )
        before: Any = self.documents[number]["phaseline"]
        after: Any = again["phaseline"]
        same_as = {"started": "started", "suspended": "suspended", **dict.fromkeys(NOT_THERE, "uninitialized")}
        expected = [{**one, "state": same_as.get(one["state"], "started")} for one in before["instances"]]
        for what, wanted in (
            ("instances", expected),
            ("relationships", before["relationships"]),
            ("groups", before["groups"]),
        ):
            told, known = (sorted(rows, key=str) for rows in (after[what], wanted))
            assert told == known, (
                f"{what}: {[one for one in told if one not in known]} for {[one for one in known if one not in told]}"
            )
        assert after["counts"] == before["counts"]

    def new(self, life: Life, parameters: dict[str, object]) -> Any:
        """An execution of a life's workflow to be stored."""
        from phaseline.model.rows.rows import NewExecution

        request = Request(life.workflow, parameters, RetryPolicy(2, 1.0))
        return NewExecution(life.deployment, request, USER, self.clock.now())


def lived(seed: int) -> set[str]:
    """The workflows that have completed in the world of a seed."""
    world = Whole(seed)
    try:
        world.live()
        return {row.request.workflow for row in world.store.executions() if row.status is ExecutionStatus.COMPLETED}
    except AssertionError as error:
        raise AssertionError("\n".join([f"seed {seed}: {error}", *world.story.lines[-60:]])) from error
    finally:
        let_go(world.engine, world, world.store)


def test_h25_h27_h44_a_deployment_is_frozen_written_down_and_taken_over_whatever_happens() -> None:
    done = set().union(*(lived(seed) for seed in SEEDS))
    assert {*WHOLE, "adopt"} <= done, "seeds that do nothing prove nothing"


@pytest.mark.parametrize("seed", FOUND)
def test_h44_seeds_that_have_found_something_before(seed: int) -> None:
    lived(seed)
