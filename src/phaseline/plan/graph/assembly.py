"""Turn a draft into a graph.

The entries are ordered by the dependency level of their instance, then by the ``StepSlot`` of the draft that
contains them, then by participant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import every, unique
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.graph import Graph, Step

if TYPE_CHECKING:
    from phaseline.plan.graph.draft import GraphDraft, StepSlot

STATE_BITS = 3
"""Largest number of states that a sequence may set between operations.

A policy code has one bit for each state set before a call, and one for each state set after it.
"""


def assemble(draft: GraphDraft, name: str, *, by_node: bool = False) -> Graph:
    """Return the graph of a draft.

    With ``by_node``, failures are counted for each node separately (``Graph.group``).
    """
    assert len(draft.states) <= STATE_BITS, "the codes of states would overlap"
    slots = draft.slots
    layout = _layout_draft(draft, slots)
    policy = np.concatenate([_policies(draft, slot) for slot in slots])
    policies = draft.policies.table()  # refuses what the column could not hold
    policy = policy.astype(np.uint16)
    subject = np.concatenate([slot.subject for slot in slots])
    marks = np.array([int(slot.marks) for slot in slots], np.uint8).repeat([len(slot) for slot in slots])
    group = np.empty(0, np.int32)
    if by_node:
        group = layout.placed(np.concatenate([draft.participants.node[slot.owner] for slot in slots]))
    ptr, idx = _adjacency(draft, layout, len(subject))
    return Graph(
        name=name,
        steps=layout.steps,
        policies=policies,
        subject=layout.placed(subject),
        policy=layout.placed(policy),
        marks=layout.placed(marks),
        ptr=ptr,
        idx=idx,
        group=group,
    )


@frozen
class _Layout:
    """The steps of the graph, and the final position of each entry.

    ``position`` is indexed by an entry's provisional position in the draft; None if no position changes.
    """

    steps: tuple[Step, ...]
    position: np.ndarray | None

    def placed(self, column: np.ndarray) -> np.ndarray:
        """Return a column of entry values, reordered from provisional to final positions."""
        if self.position is None:
            return column
        found = np.empty_like(column)
        found[self.position] = column
        return found

    def of(self, positions: np.ndarray) -> np.ndarray:
        """Return the final positions of entries, given their provisional ones."""
        return positions if self.position is None else self.position[positions]


def _layout_draft(draft: GraphDraft, slots: tuple[StepSlot, ...]) -> _Layout:
    """Split the entries of each slot wherever the level changes, and make each part a step.

    The steps are ordered by level, then by slot.
    """
    sizes = [len(slot) for slot in slots]
    slot_of = np.arange(len(slots), dtype=np.int32).repeat(sizes)
    level = draft.participants.level[np.concatenate([slot.owner for slot in slots])]
    breaks = (level[1:] != level[:-1]) | (slot_of[1:] != slot_of[:-1])
    bounds = np.array([0, *(breaks.nonzero()[0] + 1).tolist(), len(level)])
    provisional = bounds[:-1]
    length = bounds[1:] - provisional
    number = slot_of[provisional]
    order = np.lexsort((number, level[provisional]))
    placed = length[order]
    first = np.empty(len(order), np.int64)
    first[order] = placed.cumsum() - placed
    steps = tuple(
        Step(slots[slot].phase, slots[slot].kind, begin, size)
        for slot, begin, size in zip(number[order].tolist(), first[order].tolist(), placed.tolist(), strict=True)
    )
    if every(first == provisional):
        return _Layout(steps, None)
    shift = (first - provisional).astype(np.int32)
    return _Layout(steps, np.arange(len(level), dtype=np.int32) + shift.repeat(length))


def _policies(draft: GraphDraft, slot: StepSlot) -> np.ndarray:
    """Return the policy number of each entry of the slot.

    Entries that set different states before or after their call have different policy numbers.
    """
    code = slot.policy << (2 * STATE_BITS)
    if slot.before is not None:
        code = code | (slot.before.astype(np.int32) << STATE_BITS)
    if slot.after is not None:
        code = code | slot.after
    if len(code) and every(code[0] == code):
        return np.full(len(code), _policy(draft, int(code[0])), np.int32)
    used = np.bincount(code).nonzero()[0]
    table = np.zeros(int(used[-1]) + 1, np.int32)
    for value in used.tolist():
        table[value] = _policy(draft, value)
    found: np.ndarray = table[code]
    return found


def _policy(draft: GraphDraft, code: int) -> int:
    bits = (1 << STATE_BITS) - 1
    number, before, after = code >> (2 * STATE_BITS), (code >> STATE_BITS) & bits, code & bits
    return draft.policies.final(number, _states(draft, before), _states(draft, after))


def _states(draft: GraphDraft, bits: int) -> tuple[int, ...]:
    return tuple([state for place, state in enumerate(draft.states) if bits >> place & 1]) if bits else ()


def _adjacency(draft: GraphDraft, layout: _Layout, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (``ptr``, ``idx``): the edges from entry i lead to the entries ``idx[ptr[i]:ptr[i + 1]]``.

    The edge of the entry's chain comes first, then its other edges, ascending, without repetitions. Most edges belong
    to chains; these need no sorting, because each entry begins at most one of them. At least one chain always exists,
    because ``carry_states`` gives each participant a single first and a single last entry.
    """
    following = np.full(size, -1, np.int32)
    source, target = (np.concatenate(ends) for ends in zip(*draft.chain, strict=True))
    following[layout.of(source)] = layout.of(target)
    source, target = _others(draft, layout, size)
    has_next = following >= 0
    ptr = np.zeros(size + 1, np.int32)
    if not len(source):
        has_next.cumsum(dtype=np.int32, out=ptr[1:])
        return ptr, following[has_next]
    others = np.bincount(source, minlength=size)
    (others + has_next).cumsum(out=ptr[1:])
    idx = np.empty(int(ptr[-1]), np.int32)
    idx[ptr[:-1][has_next]] = following[has_next]
    rank = np.arange(len(source)) - (np.cumsum(others) - others)[source]
    idx[ptr[source] + has_next[source] + rank] = target
    return ptr, idx


def _others(draft: GraphDraft, layout: _Layout, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all edges except those of the chains, ordered by source and target, without repetitions."""
    pairs = [(layout.of(source), layout.of(target)) for source, target in draft.edges if len(source)]
    if not pairs:
        nothing = np.empty(0, np.int32)
        return nothing, nothing
    source = np.concatenate([pair[0] for pair in pairs]).astype(np.int64)
    keys = unique(source * size + np.concatenate([pair[1] for pair in pairs]))
    found = np.divmod(keys, size)
    return found[0].astype(np.int32), found[1].astype(np.int32)
