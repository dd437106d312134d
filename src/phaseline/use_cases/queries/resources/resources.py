"""List resources with groups of equal failures, and show one resource in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.rows.details import DetailQuery
from phaseline.records.formats.canonical_text import print_record
from phaseline.records.formats.json_codec import to_json
from phaseline.use_cases.lookup.known_phases import known_phases
from phaseline.use_cases.lookup.unreadable_rows import NOT_READ, Flaws
from phaseline.use_cases.queries.resources.cluster_snapshot import (
    ClusterSnapshot,
    clusters,
    read_clusters,
    telling_graphs,
)
from phaseline.use_cases.queries.resources.failure_groups import FailureGroup, groups
from phaseline.use_cases.queries.resources.phase_entries import KnownPhases, entries_of
from phaseline.use_cases.queries.resources.resource_records import record_of
from phaseline.use_cases.queries.resources.rows import ResourceRow, documents_in, rows_of
from phaseline.use_cases.queries.resources.selection import Chosen, ResourceSelector, choose_among, choose_one
from phaseline.views.phase_entry import PhaseEntryView

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext


@frozen
class ResourceList:
    """The first selected resources, the number in each state, and all failures, grouped by message.

    ``total``: number of selected resources; ``there_are``: number of all resources. ``flaws``: sentences about clusters
    that could not be read.
    """

    resources: Sequence[ResourceRow]
    total: int
    states: Mapping[str, int]
    failures: Sequence[FailureGroup] = ()
    there_are: int = 0
    flaws: Sequence[str] = ()


@frozen
class ResourceView:
    """One resource in full.

    ``record``: all its attributes with its PhaseMap, as a JSON value; ``text``: the same data as formal text.
    """

    name: str
    cluster: str
    type: str
    state: str
    target: str
    status: str
    is_moving: bool
    is_failed: bool
    execution: str
    entries: Sequence[PhaseEntryView]
    record: Mapping[str, object]
    text: str


def list_resources(ctx: RequestContext, choice: ResourceSelector, *, limit: int | None = None) -> ResourceList:
    """List the selected resources, by cluster and number; an empty choice selects all.

    Raises: the errors of ``choose``.
    """
    tables = ctx.store.listings.phase_tables()
    known = KnownPhases(known_phases(ctx, tables), tables.paused)
    flaws = Flaws()
    with ctx.store.at_once():
        reads, snapshots = read_clusters(ctx.store, clusters(ctx.store, choice.cluster), flaws)
        chosen = choose_among(ctx, choice, reads, snapshots)
        parts = list(_page(chosen, limit))
        graphs = telling_graphs(reads, [snapshot for snapshot, _ in chosen])
        reads.read(
            DetailQuery(
                notes_of={graph for some in graphs.values() for graph in some},
                batches_of=reads.ranges_of(graphs),
                documents_of={snapshot.row.number: shown.tolist() for snapshot, shown in parts},
            )
        )
        rows: list[ResourceRow] = []
        counts: dict[str, int] = {}
        read = []
        is_veiled = ctx.vault.sees_seals(tables.data_keys)
        for (snapshot, numbers), (_, shown) in zip(chosen, parts, strict=True):
            for state, count in snapshot.counted(numbers).items():
                counts[state] = counts.get(state, 0) + count
            with flaws.of(snapshot.row.name):
                rows += rows_of(snapshot, shown, documents_in(snapshot, is_veiled=is_veiled), known)
                read.append((snapshot, numbers))
        failures = _failures(read, flaws)
    there_are = sum(len(snapshot.living) for snapshot in snapshots)
    return ResourceList(rows, sum(counts.values()), counts, failures, there_are, flaws.told)


def _page(chosen: Chosen, limit: int | None) -> Iterator[tuple[ClusterSnapshot, np.ndarray]]:
    """Yield the clusters with those of their selected resources that are shown: the first ``limit`` of all."""
    room = limit
    for snapshot, numbers in chosen:
        shown = numbers if room is None else numbers[: max(0, room)]
        room = None if room is None else room - len(shown)
        yield snapshot, shown


def _failures(chosen: Chosen, flaws: Flaws) -> Sequence[FailureGroup]:
    """Return groups of equal failures; clusters whose failures cannot be read are left out."""
    try:
        return groups(chosen)
    except NOT_READ:
        read = []
        for one in chosen:
            with flaws.of(one[0].row.name):
                groups([one])
                read.append(one)
        return groups(read)


def show_resource(ctx: RequestContext, name: str, *, cluster: str | None = None) -> ResourceView:
    """Return one resource with all its data. Raises: PL-C031, PL-C032."""
    registry = known_phases(ctx)
    snapshot, number = choose_one(ctx.store, name, cluster)
    document = snapshot.document(number)
    known = KnownPhases(registry, ctx.store.paused_phases())
    entries = entries_of(snapshot, number, document, known)
    (row,) = rows_of(snapshot, np.array([number]), lambda _numbers: {number: document}, known)
    is_failed = row.status == "Failed"
    record = record_of(snapshot, number, document, is_failed=is_failed, entries=entries)
    execution = snapshot.by_number.get(int(snapshot.newest[number]))
    return ResourceView(
        name=row.name,
        cluster=row.cluster,
        type=row.type,
        state=row.state,
        target=row.target,
        status=row.status,
        is_moving=snapshot.standing(number) == "moving",
        is_failed=is_failed,
        execution=execution.id if execution is not None else "",
        entries=entries,
        record=to_json(record),
        text=print_record(record),
    )
