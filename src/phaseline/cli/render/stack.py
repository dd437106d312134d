"""Snapshots and abandoned deployments as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import moment, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.cli.render.table import Columns
    from phaseline.use_cases.commands.snapshots import SnapshotView
    from phaseline.use_cases.prepare.stack_documents import AbandonedView

NO_SNAPSHOT = "There is no snapshot. Make one: phaseline snapshots create -d NAME"
NOTHING_LEFT = "Nothing was abandoned in the last 30 days."


def snapshot_list(found: Sequence[SnapshotView]) -> str:
    """Return a line for each snapshot."""
    columns: Columns[SnapshotView] = {
        "deployment": lambda one: one.deployment,
        "snapshot": lambda one: one.name,
        "made": lambda one: moment(one.at),
        "by": lambda one: one.created_by,
        "bytes": lambda one: f"{one.size_bytes:,}",
    }
    return table(columns, found) if found else NO_SNAPSHOT


def abandoned_list(found: Sequence[AbandonedView]) -> str:
    """Return a line for each stored document of an abandoned deployment."""
    columns: Columns[AbandonedView] = {
        "id": lambda one: one.id,
        "deployment": lambda one: one.deployment,
        "abandoned": lambda one: moment(one.at),
        "by": lambda one: one.created_by,
        "kept until": lambda one: moment(one.until_at),
    }
    return table(columns, found) if found else NOTHING_LEFT
