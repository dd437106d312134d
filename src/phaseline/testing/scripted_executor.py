"""An executor that takes the outcomes of plugins from a table, at times of the virtual clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.batches.trial_call import WORDS
from phaseline.calls.protocol.reports import CallReport
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.rows import EntryRemark
from phaseline.testing.scheduled_reports import members_of

if TYPE_CHECKING:
    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.runtime_properties import PropertyPath
    from phaseline.model.execution.events import Batch
    from phaseline.model.graph.batch_members import GraphSegment
    from phaseline.testing.clock import VirtualClock

SLOTS = {"threads": 16, "workers": 8}


@frozen
class Says:
    """The outcome that a scripted plugin gives an item ``takes_s`` seconds after the call; ``completes``, ``fails`` etc. make it."""

    kind: OutcomeKind
    message: str = ""
    after_s: float | None = None
    takes_s: float = 0.0
    runtime_properties: Mapping[str, Value] = field(default_factory=dict)
    result: Value = None


def completes(
    *, takes_s: float = 0.0, runtime_properties: Mapping[str, Value] | None = None, result: Value = None
) -> Says:
    """Return the outcome completed, with these runtime properties; ``result``: the return value."""
    return Says(OutcomeKind.COMPLETED, takes_s=takes_s, runtime_properties=runtime_properties or {}, result=result)


def fails(message: str = "it failed", *, takes_s: float = 0.0) -> Says:
    """Return the outcome failed, which is not retried."""
    return Says(OutcomeKind.FAILED, message, takes_s=takes_s)


def retries(message: str = "not this time", *, after_s: float | None = None, takes_s: float = 0.0) -> Says:
    """Return the outcome failed with a retry after ``after_s`` seconds, by default after the operation's interval."""
    return Says(OutcomeKind.RETRY, message, after_s, takes_s)


def sleeps(after_s: float, message: str = "", *, takes_s: float = 0.0) -> Says:
    """Return the outcome again: not done yet, to be called again after ``after_s`` seconds."""
    return Says(OutcomeKind.AGAIN, message, after_s, takes_s)


DONE = completes()


@frozen
class Called:
    """One call of a function. ``outcomes`` has one outcome for each instance, ``died`` if the engine died during the call.

    An instance of a relationship operation is written ``web_1->db_1``.
    """

    at_s: float
    operation: str
    instances: Sequence[str]
    outcomes: Sequence[str]

    def __str__(self) -> str:
        """Return the call as a line."""
        told = self.outcomes if len(set(self.outcomes)) > 1 else self.outcomes[:1]
        return f"{self.at_s:>8.1f} s  {self.operation} {' '.join(self.instances)}: {' '.join(told)}"


class EngineDied(Exception):
    """Raised where the engine dies in a rehearsal."""


@dataclass(slots=True)
class CallScript:
    """The given outcomes and the record of calls; they survive when the engine dies.

    ``table`` is {operation: its outcomes in order}; ``crash_in`` has numbers of calls, from 1, during which the engine
    dies.
    """

    table: Mapping[str, Sequence[Says]]
    crash_in: frozenset[int]
    began_at: int
    calls: list[Called] = field(default_factory=list)
    said: dict[tuple[str, str], int] = field(default_factory=dict)

    def next_for(self, instance: str, node: str, full: str) -> Says:
        """Return the next outcome of the operation for the instance."""
        short = full.rpartition(".")[2]
        keys = (f"{owner}{name}" for owner in (f"{instance}.", f"{node}.", "") for name in (short, full))
        lines = next((self.table[key] for key in keys if key in self.table), ())
        number = self.said.get((instance, full), 0)
        self.said[instance, full] = number + 1
        return lines[number] if number < len(lines) else DONE


@frozen
class ScriptedMember:
    """One member of a batch: its index in the batch, its subject, and the subject as text."""

    number: int
    segment: GraphSegment
    place: int
    owner: int
    instance: str
    node: str
    text: str


class ScriptedAnswers:
    """``Answers`` of a script, for rehearsals."""

    slots: Mapping[str, int] = SLOTS

    def __init__(self, deployments: DeploymentCache, clock: VirtualClock, script: CallScript) -> None:
        self._deployments, self._clock, self._script = deployments, clock, script

    def to(self, batch: Batch) -> Iterator[tuple[int, CallReport]]:
        """Yield (ms until it arrives, report) of the scripted outcomes of the members; equal times share a report.

        For a bulk operation, all members are recorded as one call, otherwise each member as one.
        """
        members = [self._member(*found) for found in members_of(batch)]
        calls = [members] if batch.lane.form == "bulk" else [[member] for member in members]
        first = len(self._script.calls) + 1
        if self._script.crash_in.intersection(range(first, first + len(calls))):
            for called in calls:
                self._note(batch, called, ["died"] * len(called))
            raise EngineDied
        for called in calls:
            says = [self._script.next_for(member.instance, member.node, batch.lane.phase) for member in called]
            self._note(batch, called, [WORDS[said.kind] for said in says])
            together = sorted(zip(says, called, strict=True), key=lambda pair: pair[0].takes_s)
            for takes_s, answers in groupby(together, key=lambda pair: pair[0].takes_s):
                yield round(takes_s * 1000), self._report(batch, list(answers))

    def _member(self, number: int, segment: GraphSegment, place: int) -> ScriptedMember:
        loaded = self._deployments.loaded(segment.deployment)
        topology, subject = loaded.topology, int(segment.subjects[place])
        if segment.kind is SubjectKind.DEPLOYMENT:
            return ScriptedMember(number, segment, place, -1, "", "", loaded.view.id)
        if segment.kind is SubjectKind.INSTANCE:
            owner, text = subject, topology.ids[subject]
        else:
            source, target = int(topology.source[subject]), int(topology.target[subject])
            owner = source if segment.kind is SubjectKind.SOURCE else target
            text = f"{topology.ids[source]}->{topology.ids[target]}"
        node = topology.nodes[int(topology.node[owner])].name
        return ScriptedMember(number, segment, place, owner, topology.ids[owner], node, text)

    def _note(self, batch: Batch, members: Sequence[ScriptedMember], outcomes: Sequence[str]) -> None:
        at_s = (self._clock.now() - self._script.began_at) / 1000
        operation = batch.lane.phase.rpartition(".")[2]
        self._script.calls.append(Called(at_s, operation, tuple(member.text for member in members), tuple(outcomes)))

    def _report(self, batch: Batch, answers: Sequence[tuple[Says, ScriptedMember]]) -> CallReport:
        documents = []
        remarks = []
        for said, member in answers:
            if said.runtime_properties:
                loaded = self._deployments.loaded(member.segment.deployment)
                written: dict[PropertyPath, Value] = {(name,): value for name, value in said.runtime_properties.items()}
                documents.append((member.number, loaded.apply(member.owner, written, ())))
            position = int(member.segment.positions[member.place])
            remarks.append(
                (member.number, EntryRemark(member.segment.graph, position, said.message, result=said.result))
            )
        return CallReport(
            batch.id,
            np.array([member.number for _, member in answers], np.int32),
            np.array([said.kind for said, _ in answers], np.uint8),
            np.array([-1 if said.after_s is None else round(said.after_s * 1000) for said, _ in answers], np.int64),
            documents,
            remarks,
        )

    def when_killed(self, batch: int, members: np.ndarray) -> None:
        """Return None: killed calls never answer."""
