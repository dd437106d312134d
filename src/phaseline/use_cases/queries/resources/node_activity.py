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
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.ports.tenant_store import TenantStore


def count_nodes(
    store: TenantStore, names: dict[str, str], counts: dict[str, Counter[str]], dues: dict[str, int]
) -> None:
    """Add the nodes of all deployments to ``counts`` ({phase: {status: number}}).

    Only the latest execution of each deployment is read. ``names``: {phase in lower case: its name}; ``dues``: {phase:
    the earliest time of a next call}. All three are changed.
    """
    for row in store.deployments():
        known = store.state_names(row.number) if row.kind != "resources" else ()
        if known:  # none as long as no node has gone along a path
            with Flaws().of(row.name):
                _count_nodes_of(store, row, known, names, counts, dues)


def _count_nodes_of(
    store: TenantStore,
    row: DeploymentRow,
    known: tuple[str, ...],
    names: dict[str, str],
    counts: dict[str, Counter[str]],
    dues: dict[str, int],
) -> None:
    executions = store.executions(row.number)
    latest = executions[-1].number if executions else 0
    numbers, states = state_numbers(known), store.states(row.number)
    batches = store.batches(execution=latest) if latest else ()
    for graph in store.graphs(latest) if latest else ():
        columns = store.graph(graph.id)
        if not has_phases(columns.steps):
            continue
        status = Stay(store, graph.id, latest, "", 0, lambda: batches).status
        due = {note.position: note.due for note in store.notes(graph.id) if note.due}
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
