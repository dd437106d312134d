"""Blueprints whose nodes go through states (decision 15) while everything changes: attributes, plugins, processes; in the end all arrive.

After each event the calls that are out are held against states, phases and relationships, and the whole engine against its
invariants; operations and phases of several deployments lie in the same lanes.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from tests.run.engines import ANN
from tests.run.yard import Yard, phase

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Node, OnPath
from phaseline.model.blueprint.state_paths import NODE
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.breakpoints import PREFIX as STOP
from phaseline.model.execution.breakpoints import step_label
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.graph.graph import EXIT_PREFIX
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.model.phases.definitions import PhaseDefinition
from phaseline.model.resources.state_graph_names import state_name
from phaseline.model.rows.rows import ExecutionRow, NewDeployment, NewExecution, RequestKind
from phaseline.plan.states.state_operations import HOMES
from phaseline.testing.builders import blueprint, node, topology

SEEDS = range(4)
EVENTS = 40
UP = ("Validation", "Allocation", "Initialization", "Configuration", "Installation", "Started")
DOWN = ("Deconfiguration", "Deallocation", "Terminated")
DONE = {EntryStatus.COMPLETED, EntryStatus.PASSED}
OPERATIONS = ("create", "configure", "start", "stop", "delete", "validate_creation", "poststart")
KINDS = ("each_again", "bulk_again", "small_again", "each")
SERVER = "acme.Server"
STATES_OF = {
    short: {home for full, home in HOMES.items() if full.rpartition(".")[2] == short}
    for short in {full.rpartition(".")[2] for full in HOMES}
}
"""{last part of the name of an operation: where it may be called}"""


def definitions(random: Random) -> list[PhaseDefinition]:
    """Some phases; each may depend on those before it, and be asked for by a flag that other calls set."""
    made: list[PhaseDefinition] = []
    for number in range(random.randint(2, 7)):
        state = random.choice((*UP[:-1], *DOWN[:-1]))
        before = [one.name for one in made if state in one.states]
        needs = random.sample(before, min(len(before), random.choice((0, 1, 2))))
        fields: dict[str, object] = {"constraint": f"Flag{number % 3}"} if random.random() < 0.5 else {}
        made.append(phase(f"P{number}", state, *needs, **fields))
    return made


class Life:
    """One yard with deployments of nodes on paths and of others, and what befalls it."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.phases = definitions(self.random)
        self.yard = Yard(*self.phases)
        self.rows: dict[int, ExecutionRow] = {}
        self.known: dict[tuple[int, int], int] = {}

    def begin(self) -> None:
        """A deployment of a few nodes in layers, half of them resources; its install begins."""
        random = self.random
        nodes: list[Node] = []
        for number in range(random.randint(2, 4)):
            before = [one.name for one in nodes]
            targets = random.sample(before, min(len(before), random.choice((0, 1, 1, 2))))
            mapped = {name: f"{random.choice(KINDS)}.{name}" for name in OPERATIONS if random.random() < 0.4}
            types = (SERVER,) if random.random() < 0.6 else ("cloudify.nodes.Root",)
            flags = {"Flag0": True} if random.random() < 0.3 else {}
            made = node(
                f"n{number}", to=targets, instances=random.randint(1, 2), types=types, properties=flags, **mapped
            )
            nodes.append(made)
        line = OnPath((SERVER, "cloudify.nodes.Root", NODE), "Started")
        application = altered(blueprint(*nodes), version="phaseline_dsl_1_0", on_path={SERVER: line})
        name = f"app{len(self.rows)}"
        made_at = self.yard.clock.now()
        new = NewDeployment(name, application, {}, topology(application), CodeLocation("/nowhere"), ANN, made_at)
        number, _ = self.yard.store.create_deployment(new)
        self.ask_for("install", number)

    def ask_for(self, workflow: str, deployment: int) -> None:
        request = self.wanted(workflow)
        row = self.yard.store.create_execution(NewExecution(deployment, request, ANN, self.yard.clock.now()))
        self.rows[deployment] = row
        self.yard.engine.submit(row)
        self.yard.settle()

    def wanted(self, workflow: str) -> Request:
        """What is asked for."""
        return Request(workflow, retries=RetryPolicy(1, 15.0))

    def step(self) -> None:
        """Something happens."""
        what = self.random.choices(
            ("answer", "new", "edit", "time", "crash", "plugins", "retry", "pause", "cancel"),
            (24, 2, 3, 4, 2, 2, 2, 1, 1),
        )[0]
        getattr(self, f"_{what}")()
        self.check()

    # -- what must hold -----------------------------------------------------------------------------------------

    def check(self) -> None:
        """Who is called is in the state of what is called, after all that it depends on; states only go forwards."""
        store = self.yard.store
        for deployment, row in self.rows.items():
            made, names = store.topology(deployment), store.state_names(deployment)
            states = [state_name(int(number), names) for number in store.states(deployment)]
            self.check_order(deployment, row, states)
            for one in self.yard.called():
                if one.execution != row.number:
                    continue
                here = states[made.number_of[one.instance]]
                definition = next((known for known in self.phases if known.name == one.phase), None)
                on_path = made.nodes[made.node[made.number_of[one.instance]]].type == SERVER
                if definition is not None:
                    assert here in definition.states, f"{one.phase} is called in {here}"
                elif on_path and not one.phase.startswith(STOP):
                    assert here in STATES_OF[one.phase], f"{one.phase} is called in {here}"
                if row.request.workflow == "install":
                    for link, target in self.targets_of(made, made.number_of[one.instance]):
                        assert states[target] in {"Started", "started"}, (
                            f"{one.phase} before {made.ids[target]} ({link})"
                        )
        out = [(one.phase, one.batch) for one in self.yard.called() if one.phase.startswith("P")]
        assert len({name for name, _ in set(out)}) == len(set(out)), "two runs of a phase"
        self.check_gates()

    @staticmethod
    def targets_of(made, number: int):
        for link in made.links:
            if link.source == int(made.node[number]):
                for target in made.instances_of(link.target).tolist():
                    yield link.relationship.type, target

    def check_order(self, deployment: int, row: ExecutionRow, states: list[str]) -> None:
        """On a path nobody goes back."""
        path = UP if row.request.workflow == "install" else DOWN
        for number, state in enumerate(states):
            if state in path:
                before = self.known.get((row.number, number), -1)
                assert path.index(state) >= before, f"{number} went back to {state}"
                self.known[row.number, number] = path.index(state)

    def check_gates(self) -> None:
        """Behind a gate that has let somebody pass everything of its state is done."""
        arena = self.yard.engine.scheduler.arena
        for slot in arena.slots.values():
            phases: list[object] = []
            for step in slot.steps:
                low = slot.base + step.first
                subjects, status = arena.subject[low : low + step.count], arena.status[low : low + step.count]
                if step.phase.startswith("state:"):
                    phases = []
                elif step_label(step.phase) is not None:
                    phases.append((step.phase, dict(zip(subjects.tolist(), status.tolist(), strict=True))))
                elif step.phase.startswith(EXIT_PREFIX):
                    for subject in subjects[status == EntryStatus.PASSED].tolist():
                        for name, by_subject in phases:
                            assert by_subject.get(subject, EntryStatus.PASSED) in DONE, (
                                f"{subject} passed {step.phase} without {name}"
                            )

    # -- what happens -------------------------------------------------------------------------------------------

    def _answer(self) -> None:
        out = self.yard.called()
        if not out:
            return
        one = self.random.choice(out)
        is_phase = one.phase.startswith("P")
        kinds = (OutcomeKind.COMPLETED, OutcomeKind.AGAIN if is_phase else OutcomeKind.COMPLETED, OutcomeKind.FAILED)
        kind = self.random.choices(kinds, (6, 2, 1))[0]
        brought: dict[str, object] = {"delay_ms": 15_000} if kind is OutcomeKind.AGAIN else {}
        if self.random.random() < 0.5:
            brought["properties"] = {f"Flag{self.random.randrange(3)}": self.random.random() < 0.7}
        if kind is OutcomeKind.FAILED:
            brought["message"] = "no"
        self.yard.answer(one, kind, **brought)

    def _new(self) -> None:
        if len(self.rows) < 4:
            self.begin()

    def _edit(self) -> None:
        deployment = self.random.choice(list(self.rows))
        number = self.random.randrange(len(self.yard.store.topology(deployment)))
        written = [[[f"Flag{self.random.randrange(3)}"], self.random.random() < 0.6]]
        self.yard.ask(
            RequestKind.EDIT,
            None,
            deployment=deployment,
            edits=[{"instance": number, "written": written, "removed": []}],
        )

    def _time(self) -> None:
        self.yard.pass_time(self.random.choice((1, 15, 40)))

    def _crash(self) -> None:
        """Another process goes on; what it calls somebody may call."""
        self.yard.crash()
        closed = {
            one.name.lower() for one in self.yard.source.phases if one.error
        } | self.yard.store.paused_phases().keys()
        assert not [one for one in self.yard.called() if one.phase.lower() in closed]

    def _plugins(self) -> None:
        gone = {one.name for one in self.phases if self.random.random() < 0.3}
        self.yard.source.phases = [replace(one, error="gone") if one.name in gone else one for one in self.phases]
        self.yard.renew()

    def _retry(self) -> None:
        for row in [self.present(row) for row in self.rows.values()]:
            if row.status is not ExecutionStatus.COMPLETED and self.random.random() < 0.5:
                self.yard.ask(RequestKind.RETRY, row)

    def _pause(self) -> None:
        name = self.random.choice(self.phases).name
        if not self.yard.store.unpause_phase(name):
            self.yard.store.pause_phase(name, ANN, "no reason")
        self.yard.ask(RequestKind.PAUSE, None, phase=name)

    def _cancel(self) -> None:
        row = self.present(self.random.choice(list(self.rows.values())))
        if not row.status.is_ended:
            self.yard.ask(RequestKind.CANCEL, row, how="wait")

    def present(self, row: ExecutionRow) -> ExecutionRow:
        return self.yard.row(row)

    # -- the end ------------------------------------------------------------------------------------------------

    def end(self) -> None:
        """Nothing goes wrong any more: all installs complete, then all uninstalls."""
        self.yard.source.phases = list(self.phases)
        self.yard.renew()
        for one in self.phases:
            self.yard.store.unpause_phase(one.name)
        self.yard.ask(RequestKind.PAUSE, None)
        self.drain()
        assert self.states() <= {"Started", "started"}
        for deployment in list(self.rows):
            self.ask_for("uninstall", deployment)
            self.check()
        self.drain()
        assert self.states() <= {"Terminated", "deleted"}
        assert not self.yard.engine.has_work

    def drain(self) -> None:
        for _ in range(60):
            if all(self.present(row).status is ExecutionStatus.COMPLETED for row in self.rows.values()):
                return
            for row in [self.present(row) for row in self.rows.values()]:
                is_stuck = row.status in {ExecutionStatus.FAILED, ExecutionStatus.CANCELED, ExecutionStatus.ATTENTION}
                if is_stuck:
                    self.yard.ask(RequestKind.RETRY, row)
            for one in self.yard.called():
                self.yard.answer(one)
                self.check()
            self.yard.pass_time(60)
        raise AssertionError([(row.status, self.yard.called()) for row in map(self.present, self.rows.values())])

    def states(self) -> set[str]:
        store = self.yard.store
        return {
            state_name(int(number), store.state_names(deployment))
            for deployment in self.rows
            for number in np.frombuffer(bytes(store.states(deployment)), np.uint8)
        }


@pytest.mark.parametrize("seed", SEEDS)
def test_decision15_in_the_end_all_nodes_are_started_then_terminated(seed: int) -> None:
    life = Life(seed)
    life.begin()
    for _ in range(EVENTS):
        life.step()
    life.end()
