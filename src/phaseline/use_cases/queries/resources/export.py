"""Export resources as records that ``resources apply`` reads; applying unchanged records changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.compat.cyclecloud.resource import stored_of
from phaseline.lang.fast_dataclasses import frozen
from phaseline.lang.gc_pause import undisturbed
from phaseline.model.deployment.sealed_values import veiled
from phaseline.model.phases.phase_data import ENGINE_KEYS, NO_DATA, attributes_in
from phaseline.records.expression import Expression
from phaseline.records.formats.canonical_text import print_record
from phaseline.records.formats.json_codec import to_json, value_json
from phaseline.records.record import Record
from phaseline.use_cases.queries.resources.cluster_snapshot import NO_STATE, ClusterSnapshot
from phaseline.use_cases.queries.resources.selection import ResourceSelector, choose

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value

MOST_TOLD = 5
"""Number of attributes that are named in the notice about attributes that cannot be exported."""


@frozen
class Exported:
    """The exported records. ``text``: as formal text, by cluster and number; ``resources``: as JSON values."""

    text: str
    resources: Sequence[Mapping[str, object]]
    total: int

    def as_json(self) -> str:
        """Return the records as the text of a JSON file."""
        import json

        return json.dumps(self.resources, indent=1, ensure_ascii=False) + "\n"


@undisturbed()
def export(ctx: RequestContext, choice: ResourceSelector) -> Exported:
    """Export type, name, cluster, target and attributes of the selected resources; an empty choice selects all.

    Data of phases, states and failures are not included. Attributes that are secrets, or that records cannot represent,
    are left out and reported; applying the records to the same resources leaves these attributes unchanged. Raises: the
    errors of ``choose``.
    """
    left_out: list[str] = []
    records = [
        record for snapshot, numbers in choose(ctx, choice) for record in _records(snapshot, numbers.tolist(), left_out)
    ]
    if left_out:
        more = f" and {len(left_out) - MOST_TOLD:,} more" if len(left_out) > MOST_TOLD else ""
        ctx.notice(f"left out, because they are secret or cannot be written: {', '.join(left_out[:MOST_TOLD])}{more}")
    text = "\n".join(print_record(record) for record in records)
    return Exported(text, [to_json(record) for record in records], len(records))


def _records(snapshot: ClusterSnapshot, numbers: Sequence[int], left_out: list[str]) -> Iterator[Record]:
    documents = snapshot.store.documents(snapshot.row.number, numbers)
    for number in numbers:
        made = Record(type_name=snapshot.type(number))
        made.put("Name", snapshot.name(number))
        made.put("ClusterName", snapshot.row.name)
        target = snapshot.target_of(int(snapshot.newest[number]))
        if target and target != NO_STATE:
            made.put("TargetState", target)
        for name, value in attributes_in(documents.get(number, NO_DATA)).items():
            if name.lower() in ENGINE_KEYS or value is None:
                continue
            if not _put(made, name, value):
                left_out.append(f"{name} of {snapshot.name(number)}")
        yield made


def _put(record: Record, name: str, value: Value) -> bool:
    """Add an attribute to the record; return False, and add nothing, if reading it would give another value."""
    if not name or name.lower() in record.folded or veiled(value) != value:
        return False
    record.put(name, stored_of(value))
    kept = record.folded[name.lower()]
    if isinstance(kept, Expression) or value_json(kept) == value:
        return True
    record.remove(name)
    return False
