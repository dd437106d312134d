"""A naive executor of graphs: one entry at a time, by a plain reading of the marks, recording what happens in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phaseline.model.blueprint.blueprint import Operation
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.breakpoints import Breakpoint
from phaseline.model.execution.execution import TOLERATED, GoOn, History, Request, Reshape, RetryPolicy, Round, Verdict
from phaseline.model.execution.stored_plans import Aim
from phaseline.model.graph.graph import Graph, SubjectKind, phase_of
from phaseline.model.graph.status import EntryStatus as Status
from phaseline.model.graph.status import Mark
from phaseline.model.health.checks import CheckResults, HeldBodies, NewCheckResults, results_of
from phaseline.model.resources.state_graph_names import state_name
from phaseline.plan.workflows import PLANNERS

Fails = Callable[[str], bool]
"""From ``operation instance`` to whether it fails."""


@dataclass
class World:
    """Instances with their states, and everything that was called or became, as lines."""

    topology: Topology
    states: np.ndarray
    lines: list[str] = field(default_factory=list)
    last: Graph | None = None
    rounds: list[Round] = field(default_factory=list)
    status: dict[int, Status] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    book: CheckResults = field(default_factory=lambda: CheckResults(HeldBodies()))
    drifted: frozenset[str] = frozenset()
    carried_out: dict[str, tuple[Graph, dict[int, Status]]] = field(default_factory=dict)
    breakpoints: tuple[Breakpoint, ...] = ()
    aim: Aim | None = None

    @classmethod
    def fresh(cls, topology: Topology, state: InstanceState = InstanceState.UNINITIALIZED) -> World:
        return cls(topology, np.full(len(topology), state, np.uint8))

    @property
    def calls(self) -> list[str]:
        return [line for line in self.lines if "=" not in line]

    def state(self, id: str) -> str:
        return InstanceState(self.states[self.topology.number_of[id]]).word

    def of(self, id: str) -> list[str]:
        """What was called for an instance and which states it went through, in order."""
        found = []
        for line in self.lines:
            what, _, who = line.partition(" ")
            if who.partition(">")[0] == id:
                found.append(what)
        return found

    def place(self, line: str) -> int:
        return self.lines.index(line)

    def run(
        self,
        workflow: str,
        *,
        fails: Fails = lambda _: False,
        declare: Callable[[Operation], Declaration] = lambda _: Declaration(),
        retries: RetryPolicy | None = None,
        clean: bool = False,
        take_back: bool = False,
        **parameters: object,
    ) -> Verdict:
        """Ask the planner until it gives its verdict, and carry out every graph it gives."""
        request = Request(
            workflow,
            parameters,
            retries or RetryPolicy(),
            clean=clean,
            breakpoints=self.breakpoints,
            take_back=take_back,
        )
        self.rounds, self.carried_out = [], {}
        for _ in range(10):
            history = History(
                self.states.copy(),
                tuple(self.rounds),
                checks=self.book.checks,
                aim=lambda: self.aim,
                called=self.called,
            )
            answer = PLANNERS[workflow](self.topology, request, history, declare)
            if isinstance(answer, Verdict):
                return answer
            if isinstance(answer, Reshape):
                self.reshape(answer)
                continue
            self.status = self.carry_out(answer, fails)
            self.last = answer
            self.carried_out[answer.name] = answer, self.status
            self.rounds.append(Round(answer.name, 0, counted(answer, self.status)))
        raise AssertionError("the planner never ends")

    def called(self, name: str) -> np.ndarray | None:
        """For which instances a round called an operation, bool by number."""
        if name not in self.carried_out:
            return None
        graph, status = self.carried_out[name]
        found = np.zeros(len(self.topology), bool)
        for step in graph.steps:
            for position in range(step.first, step.first + step.count):
                if step.kind is SubjectKind.INSTANCE and status[position] in {Status.COMPLETED, Status.FAILED}:
                    found[graph.subject[position]] = True
        return found

    def reshape(self, answer: Reshape) -> None:
        """The deployment has another shape, and its planner a round of that."""
        self.topology = answer.topology
        self.states = np.concatenate((self.states, np.zeros(len(answer.topology) - len(self.states), np.uint8)))
        self.rounds.append(Round(answer.name, 0, {}))

    def carry_out(self, graph: Graph, fails: Fails = lambda _: False) -> dict[int, Status]:
        """Entries by position, the lowest that may run first; status by position."""
        needs: dict[int, list[int]] = {position: [] for position in range(len(graph))}
        for position in range(len(graph)):
            for waiting in graph.idx[graph.ptr[position] : graph.ptr[position + 1]].tolist():
                needs[waiting].append(position)
        status: dict[int, Status] = {}
        open_ = list(range(len(graph)))
        while open_:
            ready = [p for p in open_ if all(need in status for need in needs[p])]
            assert ready, f"entries wait in a circle: {open_}"
            for position in ready:
                lost = any(not is_done(graph, need, status) for need in needs[position])
                lost &= not int(graph.marks[position]) & Mark.ENDED
                status[position] = Status.SKIPPED if lost else self.act(graph, position, fails)
                open_.remove(position)
        return status

    def act(self, graph: Graph, position: int, fails: Fails) -> Status:
        step = next(step for step in graph.steps if step.first <= position < step.first + step.count)
        policy = graph.policies[graph.policy[position]]
        marks, subject = int(graph.marks[position]), int(graph.subject[position])
        if marks & Mark.ABSENT:
            self.become(subject, (*policy.enter, *policy.leave))
            return Status.PASSED
        line = f"{short(step.phase)} {self.name(step.kind, subject)}"
        self.become(subject, policy.enter)
        self.lines.append(line)
        failed = fails(line)
        if not failed or marks & Mark.TOLERANT:
            self.become(subject, policy.leave)
        self.check(step.phase, step.kind, subject, failed=failed, drifted=line in self.drifted)
        return Status.FAILED if failed else Status.COMPLETED

    def check(self, operation: str, kind: SubjectKind, subject: int, *, failed: bool, drifted: bool) -> None:
        """Remember what the call of a check has found."""
        outcome = np.array([4 if failed else 1], np.uint8)
        found = results_of(operation, kind, outcome, np.array([drifted]))
        if found is not None:
            self.book.record(NewCheckResults(1, found[0], np.array([subject], np.int32), found[1], at=1, execution=1))

    def become(self, subject: int, states: tuple[int, ...]) -> None:
        for state in states:
            self.states[subject] = state
            self.book.enter((int(state),), np.array([subject], np.int32))
            self.lines.append(f"={state_name(state, self.names)} {self.topology.ids[subject]}")

    def name(self, kind: SubjectKind, subject: int) -> str:
        ids = self.topology.ids
        if kind is SubjectKind.INSTANCE:
            return ids[subject]
        source, target = ids[self.topology.source[subject]], ids[self.topology.target[subject]]
        return f"{source}>{target}:{kind.name.lower()}"


def short(phase: str) -> str:
    """The operation's own name; those of other interfaces than the life cycle with the interface's."""
    if phase_of(phase) is not None:
        return phase
    interface, _, name = phase.rpartition(".")
    last = interface.rpartition(".")[2]
    return name if last in {"lifecycle", "relationship_lifecycle"} else f"{last}.{name}"


def is_done(graph: Graph, position: int, status: Mapping[int, Status]) -> bool:
    found = status[position]
    tolerated = found is Status.FAILED and int(graph.marks[position]) & Mark.TOLERANT
    return found in {Status.COMPLETED, Status.PASSED} or bool(tolerated)


def counted(graph: Graph, status: Mapping[int, Status]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for position, found in status.items():
        tolerated = found is Status.FAILED and int(graph.marks[position]) & Mark.TOLERANT
        word = TOLERATED if tolerated else found.word
        counts[word] = counts.get(word, 0) + 1
    return counts


def uncalled(graph: Graph) -> int:
    """How many entries are never called."""
    return int(np.count_nonzero(graph.marks & Mark.ABSENT))


def ask(
    workflow: str,
    topology: Topology,
    *rounds: Round,
    states: InstanceState = InstanceState.STARTED,
    take_back: bool = False,
    parameters: Mapping[str, object] | None = None,
    **known: Any,
) -> Graph | Reshape | GoOn | Verdict:
    """What a planner answers after these rounds. ``known``: further fields of the history."""
    request = Request(workflow, parameters or {}, take_back=take_back)
    history = History(np.full(len(topology), states, np.uint8), rounds, **known)
    return PLANNERS[workflow](topology, request, history, lambda _: Declaration())
