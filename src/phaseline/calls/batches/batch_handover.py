"""A batch with all that is needed to call its members; the call of a member is made only when it begins."""

from __future__ import annotations

import threading
from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.batches import client_tokens
from phaseline.calls.deployments.batch_parts import BatchPart
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.graph import phase_of
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.rows import ASKED, Actor, EntryRemark

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.calls.deployments.batch_parts import CallTemplate
    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.deployments.other_deployments import CapabilityMemo
    from phaseline.calls.protocol.call import Channel, Outcome, PluginCall
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.execution.events import Batch
    from phaseline.model.graph.graph import Policy
    from phaseline.model.phases.definitions import PhaseCode
    from phaseline.model.rows.rows import DocumentChange
    from phaseline.ports.estate import CallEntry


FIRST = np.zeros(1, np.int32)
"""The members of a batch with one member: its index 0."""
FIRST.flags.writeable = False


@frozen
class FunctionGroup:
    """The members (int32) of one batch that call the same function.

    ``implementation`` is the name of the function. If it is empty, there is no function, and each member
    is answered separately. ``code`` has the location of the function; for a phase it comes from the phase's definition.
    """

    code: CodeLocation | PhaseCode
    implementation: str
    members: np.ndarray


class BatchHandover:
    """A batch given to the executor. Any thread may call the look-ups; ``lock`` guards which members are answered."""

    def __init__(self, batch: Batch, deployments: DeploymentCache) -> None:
        """Look up what calls of the members need: their deployments, executions, policies, stored data and the phase.

        Call it within a turn of the engine, because only the thread of the turn may use ``deployments``.
        """
        self.batch = batch
        self.names = deployments.names
        self.find_estate = deployments.find_estate
        self.count = len(batch)
        firsts = [0, *batch.members.ends[:-1]]
        self.parts = [
            BatchPart(
                segment,
                first,
                batch.lane.phase,
                deployments.loaded(segment.deployment),
                deployments.execution(segment.execution, segment.deployment),
                deployments.policies(segment.graph),
                deployments.data(segment.graph),
                deployments.doubted(segment.graph),
                deployments.find_phase,
            )
            for segment, first in zip(batch.segments, firsts, strict=True)
        ]
        self._share_reads()
        phase = self._phase = phase_of(batch.lane.phase)
        self.definition = None if phase is None else deployments.find_phase(phase)
        """The called phase, as defined when the batch was handed over; None for an operation or an unusable phase."""
        self.firsts = firsts
        self.lock = threading.Lock()
        self.canceled: set[int] = set()
        self._killed: set[int] = set()
        self._ends: dict[int, Callable[[], object]] = {}
        self.answered = bytearray(self.count)
        self.left = self.count
        self._begun = bytearray(self.count)
        self._is_closed = False

    def __len__(self) -> int:
        """Return the number of members."""
        return self.count

    def _share_reads(self) -> None:
        """Let all members see one value of each capability of another deployment (DP2)."""
        memo: CapabilityMemo | None = None
        for part in self.parts:
            deployment = part.deployment
            if deployment.reads_others and deployment.look_beyond is not None:
                if memo is None:
                    from phaseline.calls.deployments.other_deployments import CapabilityMemo  # few blueprints need it

                    memo = CapabilityMemo()
                reads = deployment.look_beyond(memo)
                part.reads = lambda reads=reads: reads

    # -- members ------------------------------------------------------------------------------------------------

    def part_of(self, member: int) -> BatchPart:
        """Return the part of the batch (one segment) that contains the member."""
        parts = self.parts
        return parts[0] if len(parts) == 1 else parts[bisect_right(self.firsts, member) - 1]

    def policy_of(self, member: int) -> Policy:
        """Return the policy by which the member is called and retried."""
        part = self.part_of(member)
        return part.policies[int(part.segment.policies[member - part.first])]

    def instance_of(self, member: int) -> int:
        """Return the number of the instance under which log lines of the member are stored."""
        part = self.part_of(member)
        return part.instance(member - part.first)

    def token_of(self, member: int) -> str:
        """Return the client token of the member's entry."""
        part = self.part_of(member)
        place = member - part.first
        segment = part.segment
        return client_tokens.client_token(
            self.names, segment.graph, int(part.positions[place]), int(segment.generations[place])
        )

    def entry_of(self, member: int) -> CallEntry:
        """Return the entry whose call the member is, with the user of its execution."""
        from phaseline.ports.estate import CallEntry  # few calls need it

        part = self.part_of(member)
        place, segment, execution = member - part.first, part.segment, part.execution
        return CallEntry(
            segment.execution, segment.graph, int(part.positions[place]), int(segment.generations[place]),
            Actor(execution.creator, execution.tenant),
        )  # fmt: skip

    def mark_of(self, member: int) -> str:
        """Return the text in the environment of the member's processes, by which they are found."""
        return client_tokens.process_mark(self.names, self.batch.id, member)

    # -- calls --------------------------------------------------------------------------------------------------

    def spot_of(self, member: int) -> CallTemplate:
        """Return the data shared by all members of a node. Raises: ``NonRecoverableError`` if there is no function."""
        part = self.part_of(member)
        return part.spot(member - part.first)

    def spot_and_call(self, member: int, channel: Channel) -> tuple[CallTemplate, PluginCall]:
        """Return the template of a member and its call.

        ``is_doubted`` is set on the call if an earlier call of its entry has an unknown end. Raises:
        ``NonRecoverableError`` if no function is mapped any more.
        """
        part = self.part_of(member)
        place = member - part.first
        spot = part.spot(place)
        call = part.call(place, channel, spot.site)
        call.is_doubted = part.take_doubt(place)
        return spot, call

    def call_of(self, member: int, channel: Channel) -> PluginCall:
        """Return the member's call. Raises ``NonRecoverableError`` if no function is mapped any more."""
        part = self.part_of(member)
        return part.call(member - part.first, channel)

    def begin(self, member: int) -> bool:
        """Return True if the member may be called, and count it as called."""
        with self.lock:
            if not self._is_closed:
                self._begun[member] = 1
            return not self._is_closed

    def give_back(self, member: int) -> None:
        """Undo ``begin`` for a member that was not called, so that another worker can call it."""
        with self.lock:
            self._begun[member] = 0

    def begin_all(self, members: np.ndarray) -> bool:
        """Count these members as called and return True; return False, and count none, if the batch has been closed."""
        if len(members) == 1:
            return self.begin(members.item())
        with self.lock:
            if not self._is_closed:
                np.frombuffer(self._begun, np.uint8)[members] = 1
            return not self._is_closed

    def on_kill(self, member: int, end: Callable[[], object]) -> None:
        """Register ``end``, which interrupts the member's call; call it at once if ``kill`` was called before."""
        with self.lock:
            is_wanted = member in self._killed
            if not is_wanted:
                self._ends[member] = end
        if is_wanted:
            end()

    def kill(self, member: int) -> None:
        """Interrupt the member's call if it has registered an ``end``; otherwise as soon as it does."""
        with self.lock:
            self._killed.add(member)
            end = self._ends.pop(member, None)
        if end is not None:
            end()

    def close(self) -> np.ndarray:
        """Let no member begin any more. Return the members (int32) that were certainly not called."""
        with self.lock:
            self._is_closed = True
            touched = np.frombuffer(self._begun, np.uint8) | np.frombuffer(self.answered, np.uint8)
            return np.flatnonzero(touched == 0).astype(np.int32)

    # -- what comes back ----------------------------------------------------------------------------------------

    def claim(self, members: np.ndarray) -> np.ndarray:
        """Mark members as answered, and return those that were not answered before. The caller holds ``lock``."""
        if len(members) == self.left == 1 and not self.answered[members.item()]:
            self.answered[members.item()] = 1
            self.left = 0
            return members
        answered = np.frombuffer(self.answered, np.uint8)
        fresh: np.ndarray = members[answered[members] == 0]
        answered[fresh] = 1
        self.left -= len(fresh)
        return fresh

    def attempts(self) -> np.ndarray | None:
        """Return the number of retries so far of each member, or None if there were none (the common case)."""
        attempts = self.batch.members.attempts
        return attempts if np.count_nonzero(attempts) else None

    def unanswered(self) -> np.ndarray:
        """Return the members without an outcome so far, int32."""
        return np.flatnonzero(np.frombuffer(self.answered, np.uint8) == 0).astype(np.int32)

    def remark_of(self, member: int, outcome: Outcome) -> EntryRemark:
        """Return what is stored with the member's entry for an outcome: message, error, result."""
        part = self.part_of(member)
        position = part.positions[member - part.first]
        is_asked = outcome.kind == OutcomeKind.AGAIN and self.batch.members.attempts[member] > 0
        return EntryRemark(
            part.segment.graph, position, outcome.message, ASKED if is_asked else outcome.error, outcome.result
        )  # fmt: skip

    def keep_data(self, member: int, data: Value) -> None:
        """Keep the data that a call leaves for the next call of its entry; None removes it."""
        part = self.part_of(member)
        position = part.positions[member - part.first]
        if data is None:
            part.data.pop(position, None)
        else:
            part.data[position] = data

    def data_of(self, member: int) -> Value:
        """Return the data that an earlier call of the entry left, or None; callers must not change it."""
        part = self.part_of(member)
        return part.data.get(part.positions[member - part.first]) if part.data else None

    def remembered(self, members: np.ndarray) -> list[int]:
        """Return the indexes, within ``members`` (int32), of those for which an earlier call left data."""
        for part in self.parts:
            if part.data:
                return [place for place, member in enumerate(members.tolist()) if self.data_of(member) is not None]
        return []

    def doubted(self, members: np.ndarray) -> list[int]:
        """Return the indexes, within ``members`` (int32), of those whose last call has an unknown end.

        Each member is returned only once: the next request leaves it out.
        """
        for part in self.parts:
            if part.doubted:
                return [place for place, member in enumerate(members.tolist()) if self.take_doubt(member)]
        return []

    def take_doubt(self, member: int) -> bool:
        """Return True at the first request if the last call of this member has an unknown end; later return False."""
        part = self.part_of(member)
        return part.take_doubt(member - part.first)

    def changes_of(self, call: PluginCall) -> list[tuple[int, DocumentChange]]:
        """Return (member, change) for what the call changed in runtime properties."""
        changes = self.part_of(call.member).deployment.changes(call.subjects)
        return [(call.member, change) for change in changes]

    def groups(self) -> list[FunctionGroup]:
        """Return the members grouped by function, in the order in which the functions first occur."""
        if self._phase is not None:
            return [self._phase_group()]
        if self.count == 1 or (len(self.parts) == 1 and _is_one(self._owners(self.parts[0]))):
            name = self._function_of(self.parts[0], self.parts[0].segment.subjects.item(0))
            return [FunctionGroup(*name, FIRST if self.count == 1 else np.arange(self.count, dtype=np.int32))]
        names: dict[tuple[CodeLocation, str], int] = {}
        columns = [self._group_numbers(part, names) for part in self.parts]
        column = columns[0] if len(columns) == 1 else np.concatenate(columns)
        if len(names) == 1:
            ((code, implementation),) = names
            return [FunctionGroup(code, implementation, np.arange(len(column), dtype=np.int32))]
        order = np.argsort(column, kind="stable").astype(np.int32)
        ends = np.cumsum(np.bincount(column, minlength=len(names)))
        return [FunctionGroup(*name, members) for name, members in zip(names, np.split(order, ends[:-1]), strict=True)]

    def _phase_group(self) -> FunctionGroup:
        """Return one group with all members, because one run of a phase takes resources of any kind."""
        definition = self.definition
        members = np.arange(self.count, dtype=np.int32)
        if definition is None or definition.code is None:
            return FunctionGroup(self.parts[0].deployment.view.code, "", members)
        return FunctionGroup(definition.code, str(definition.code), members)

    def _group_numbers(self, part: BatchPart, names: dict[tuple[CodeLocation, str], int]) -> np.ndarray:
        """Return the number of each member's function, by index in the segment; add new functions to ``names``."""
        first, inverse = _distinct(self._owners(part))
        numbers = np.empty(len(first), np.int32)
        for place, subject in enumerate(part.segment.subjects[first].tolist()):
            numbers[place] = names.setdefault(self._function_of(part, subject), len(names))
        column: np.ndarray = numbers[inverse]
        return column

    @staticmethod
    def _owners(part: BatchPart) -> np.ndarray:
        return part.deployment.owners(part.segment.kind, part.segment.subjects)

    def _function_of(self, part: BatchPart, subject: int) -> tuple[CodeLocation, str]:
        """Return (location of the code, name of the function) for a subject; the name is empty without function."""
        operation = part.mapped(subject)
        is_function = operation is not None and operation.form == "function"
        return part.deployment.view.code, operation.implementation if operation is not None and is_function else ""


def _is_one(values: np.ndarray) -> bool:
    return len(values) == 1 or (len(values) > 1 and bool((values == values[0]).all()))


def _distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (index of the first occurrence of each distinct value, index of each value among the distinct ones)."""
    if _is_one(values):
        return np.zeros(1, np.int64), np.zeros(len(values), np.int64)
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    return first, inverse
