"""Deployments that are scaled out and in while everything goes wrong: what is there is what a model says, and nothing is left.

The worlds are those of ``test_lives``: calls fail, sleep, are late or lost, users cancel and retry, the process dies
before and after every commit. Each world installs, scales a few times and uninstalls.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from phaseline.model.blueprint.blueprint import Blueprint
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import ExecutionRow, NewDeployment, NewExecution, Turn
from phaseline.plan.requests.request_validation import check
from phaseline.testing.builders import blueprint, group
from phaseline.testing.builders import topology as expanded
from phaseline.testing.simulation.applications import draw_application
from phaseline.testing.simulation.ledger import Neighbours
from phaseline.testing.simulation.world import LIMITS, USER, Life, World, let_go

SEEDS = range(12)
MOST_SCALES = 4
CLEAN = {State.UNINITIALIZED, State.INITIALIZING, State.DELETED}
"""What an instance may be in when it is gone."""
DOWNWARDS = ("stop", "prestop", "delete", "postdelete", "unlink")


class Scaled(World):
    """A world in which a deployment is scaled between its install and its uninstall."""

    def __init__(self, seed: int) -> None:
        """As other worlds; scaling groups are drawn as well."""
        self.counts: dict[int, dict[str, int]] = {}
        self.left: dict[int, int] = {}
        self.finished: set[int] = set()
        self.ask: dict[str, dict[str, object]] = {}
        super().__init__(seed)

    def _new_life(self, number: int) -> Life:
        application = draw_application(self.dice)
        outer = [node.name for node in application.nodes.values() if node.container is None]
        if self.dice.happens(0.5):
            members = self.dice.random.sample(outer, self.dice.random.randint(1, len(outer)))
            grouped = blueprint(*application.nodes.values(), group("g", *members, instances=self.dice.one(1, 2)))
            application = grouped if is_possible(grouped) else application
        new = NewDeployment(
            f"app{number}", application, {}, expanded(application), CodeLocation("/nowhere"), USER, self.clock.now()
        )
        deployment, _ = self.store.create_deployment(new)
        return Life(deployment, nobodies(self.store.topology(deployment)))

    def _begin_engine(self) -> None:
        super()._begin_engine()
        submit = self.executor.submit

        def checked(batch) -> None:
            for segment in batch.segments:
                self.look_at(segment, batch.lane.phase.rpartition(".")[2])
            submit(batch)

        self.executor.submit = checked
        self.ledger.neighbours = {
            life.deployment: nobodies(self.store.topology(life.deployment)) for life in self.lives
        }

    def look_at(self, segment, phase: str) -> None:
        """Nothing is called for who is gone, nothing is taken down that is not there."""
        topology, states = self.store.topology(segment.deployment), self.store.states(segment.deployment)
        instances = segment.subjects
        if segment.kind is not SubjectKind.INSTANCE:
            assert topology.is_tied[segment.subjects].all(), f"{phase} of a relationship to somebody who is gone"
            instances = topology.source[segment.subjects]
        assert topology.is_there[instances].all(), f"{phase} of an instance that is gone"
        if phase in DOWNWARDS and segment.kind is SubjectKind.INSTANCE:
            wrong = np.isin(states[instances], [State.DELETED, State.UNINITIALIZED])
            assert not wrong.any(), (
                f"{phase} of {instances[wrong].tolist()}, which are {states[instances[wrong]].tolist()}"
            )

    def tell(self, turn: Turn) -> None:
        """Nothing is left of who is gone; who is needed by whom may be another now."""
        super().tell(turn)
        for row in turn.payload.reshaped:
            gone = ~self.store.topology(row.deployment).is_there
            states = self.store.states(row.deployment)
            assert set(states[gone].tolist()) <= CLEAN, f"something is left of {states[gone].tolist()}"
            self.ledger.neighbours[row.deployment] = nobodies(row.topology)

    # -- users --------------------------------------------------------------------------------------------------

    def _submit(self, life: Life) -> None:
        if life.workflow != "scale":
            super()._submit(life)
            return
        asked = self.ask[str(life.deployment)]
        request = Request("scale", asked, RetryPolicy(2, 1.0), self.dice.one(*LIMITS))
        problems = check(self.store.topology(life.deployment), request)
        assert not problems, problems
        row = self.store.create_execution(NewExecution(life.deployment, request, USER, self.clock.now()))
        life.execution, life.tries, life.wished_at, life.cleaned_at = row.id, 0, 0, 0
        self.say(f"{row.id}: a user asks for {asked}")
        self.engine.submit(row)

    def _after_the_end(self, life: Life, row: ExecutionRow) -> None:
        topology = self.store.topology(life.deployment)
        is_completed = row.status is ExecutionStatus.COMPLETED
        if life.workflow == "scale":
            self.after_scale(life, row, topology)
        elif is_completed and life.workflow == "install":
            self.left[life.deployment] = self.dice.random.randint(1, MOST_SCALES)
            assert len(topology.gone) == 0
            self.next_scale(life, topology)
        elif is_completed and life.workflow == "uninstall":
            states = self.store.states(life.deployment)
            assert set(states[topology.is_there].tolist()) <= {State.DELETED}
            assert set(states[~topology.is_there].tolist()) <= CLEAN
            life.is_over = True
        else:
            self._retry(life, row)

    def after_scale(self, life: Life, row: ExecutionRow, topology: Topology) -> None:
        """Completed or taken back: the model says who is there. Under way: go on with it, or have the next one abort it."""
        graphs = self.store.graphs(row.number)
        if graphs and graphs[-1].name.startswith("finish ") and row.number not in self.finished:
            self.finished.add(row.number)
            entity, delta = row.request.parameters["scalable_entity_name"], row.request.parameters["delta"]
            counts = self.counts.setdefault(life.deployment, {})
            counts[entity] = self.count_of(topology.blueprint, counts, entity) + delta
        if topology.started is None:
            self.compare(life, topology)
            if row.status is ExecutionStatus.COMPLETED or self.dice.happens(0.6) or life.tries >= 2:
                self.next_scale(life, topology)
            else:
                self._retry(life, row)
        elif self.dice.happens(0.3):
            self.next_scale(life, topology)
        else:
            self._retry(life, row)

    def next_scale(self, life: Life, topology: Topology) -> None:
        """Another scale, or the end."""
        self.left[life.deployment] -= 1
        counts = self.counts.setdefault(life.deployment, {})
        if self.left[life.deployment] < 0 and topology.started is None:
            life.workflow = "uninstall"
            self._submit(life)
            return
        written = topology.blueprint
        entity = self.dice.one(*written.nodes, *written.scaling_groups)
        present = self.count_of(written, counts, entity)
        delta = self.dice.one(1, 1, 2, -1, -2)
        delta = max(delta, -present) if present + delta < 4 else -1
        asked = {
            "scalable_entity_name": entity,
            "delta": delta,
            "rollback_if_failed": self.dice.one(True, True, False),
            "ignore_failure": self.dice.one(True, False),
            "abort_started": topology.started is not None,
        }
        if delta < 0 and entity in written.nodes and self.dice.happens(0.5):
            mine = topology.instances_of(topology.node_number[entity])
            asked["include_instances"] = [topology.ids[number] for number in mine[:1].tolist()]
        self.ask[str(life.deployment)] = asked
        life.workflow = "scale"
        self._submit(life)

    # -- the model ----------------------------------------------------------------------------------------------

    @staticmethod
    def count_of(written: Blueprint, counts: dict[str, int], entity: str) -> int:
        """How many there are to be in each instance of what it lies in."""
        known = written.nodes.get(entity) or written.scaling_groups[entity]
        return counts.get(entity, known.default_instances)

    def compare(self, life: Life, topology: Topology) -> None:
        """Who is there, and who is tied to whom, is what counts say when they are multiplied by hand."""
        counts = self.counts.setdefault(life.deployment, {})
        written = topology.blueprint
        within = {member: name for name, one in written.scaling_groups.items() for member in one.members}
        total: dict[str, int] = {}

        def total_of(name: str) -> int:
            if name not in total:
                node = written.nodes.get(name)
                outer = within.get(name) or (node.container if node is not None else None)
                if outer is None and node is None:
                    outer = self.container_of(written, name)
                total[name] = self.count_of(written, counts, name) * (total_of(outer) if outer else 1)
            return total[name]

        there = Counter(topology.nodes[number].name for number in topology.node[topology.is_there].tolist())
        expected = {name: total_of(name) for name in written.nodes}
        assert +there == +Counter(expected), f"there are {dict(there)} instead of {expected}"
        given = {name: count for name, count in counts.items() if count != self.count_of(written, {}, name)}
        assert dict(topology.counts) == given
        self.compare_ties(topology, expected)

    @staticmethod
    def container_of(written: Blueprint, name: str) -> str | None:
        while name in written.scaling_groups:
            name = written.scaling_groups[name].members[0]
        return written.nodes[name].container

    @staticmethod
    def compare_ties(topology: Topology, expected: dict[str, int]) -> None:
        for number, link in enumerate(topology.links):
            if (
                link.is_rule
                or link.group >= 0
                or link.is_cut
                or not {link.source, link.target}.isdisjoint(topology.past)
            ):
                continue
            mine = (topology.link == number) & topology.is_tied
            pairs = list(zip(topology.source[mine].tolist(), topology.target[mine].tolist(), strict=True))
            assert len(set(pairs)) == len(pairs), "a relationship is there twice"
            sources, targets = (expected[topology.nodes[end].name] for end in (link.source, link.target))
            if link.relationship.is_containment:
                assert len(pairs) == sources
            elif link.ties_all:
                assert len(pairs) == sources * targets
            else:
                assert len(pairs) == (sources if targets else 0)
                assert len({target for _, target in pairs}) <= 1


def is_possible(application: Blueprint) -> bool:
    """All to one does not go together with groups."""
    try:
        expanded(application)
    except ProblemsError:
        return False
    return True


def nobodies(topology: Topology) -> Neighbours:
    """The order between instances is held by the graphs alone: what a failed scale in leaves may be half gone."""
    return [[] for _ in range(len(topology))], [[] for _ in range(len(topology))]


@pytest.mark.parametrize("seed", SEEDS)
def test_n8_w42_w43_what_is_there_is_what_the_model_says_whatever_happens(seed: int) -> None:
    world = Scaled(seed)
    try:
        world.live()
    except AssertionError as error:
        raise AssertionError("\n".join([str(error), *world.story.lines[-60:]])) from error
    finally:
        let_go(world.engine, world, world.store)
