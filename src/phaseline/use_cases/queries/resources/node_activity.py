"""Count the blueprint nodes in each phase, by status (decision 15). Their entries are in graphs of workflows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.graph.graph import has_phases, phase_of
from phaseline.model.graph.status import EntryStatus
from phaseline.model.phases.activity import COUNTED
from phaseline.model.resources.state_graph_names import state_numbers
from phaseline.plan.states.state_entries import stays_of
from phaseline.use_cases.lookup.unreadable_rows import Flaws
from phaseline.use_cases.queries.resources.state_stays import WORDS, Stay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.rows.rows import BatchRow, DeploymentRow
    from phaseline.use_cases.lookup.read_ahead import ReadAhead


def count_nodes(
    reads: ReadAhead,
    rows: Sequence[DeploymentRow],
    names: dict[str, str],
    counts: dict[str, Counter[str]],
    dues: dict[str, int],
) -> None:
    """Add the nodes of deployments, of which ``reads`` has read the last rounds, to ``counts``.

    ``counts`` is {phase: {status: number}}; only the latest execution of each deployment counts. ``names``: {phase in
    lower case: its name}; ``dues``: {phase: the earliest time of a next call}. All three are changed.
    """
    for row in rows:
        with Flaws().of(row.name):
            _count_nodes_of(reads, row, names, counts, dues)


def _count_nodes_of(
    reads: ReadAhead, row: DeploymentRow, names: dict[str, str], counts: dict[str, Counter[str]], dues: dict[str, int]
) -> None:
    latest = reads.latest.get(row.number, 0)
    numbers, states = state_numbers(reads.state_names(row.number)), reads.states(row.number)

    def running() -> Sequence[BatchRow]:
        return reads.batches(execution=latest, only_open=True)

    for graph in reads.graphs(latest) if latest else ():
        columns = reads.graph(graph.id)
        if not has_phases(columns.steps):
            continue
        status = Stay(reads, graph.id, latest, "", 0, running).status
        due = {note.position: note.due for note in reads.notes(graph.id) if note.due}
        for stay in stays_of(columns.steps):
            for step in stay.phases:
                name = phase_of(step.phase)
                if name is None:
                    continue  # a breakpoint is no phase
                names.setdefault(name.lower(), name)
                here = np.arange(step.first, step.first + step.count)
                here = here[states[columns.subject[here]] == numbers.get(stay.state, -1)]
                words = Counter(WORDS.get(EntryStatus(value)) for value in status[here].tolist())
                tally = counts.setdefault(name.lower(), Counter())
                tally.update({word: count for word, count in words.items() if word is not None and word in COUNTED})
                sleeping = [due[at] for at in here[status[here] == EntryStatus.SLEEPING].tolist() if at in due]
                if sleeping:
                    dues[name.lower()] = min(dues.get(name.lower(), sleeping[0]), *sleeping)
