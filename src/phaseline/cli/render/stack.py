"""Snapshots and abandoned deployments as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import moment, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.use_cases.commands.snapshots import SnapshotView
    from phaseline.use_cases.prepare.stack_documents import AbandonedView

NO_SNAPSHOT = "There is no snapshot. Make one: phaseline snapshots create -d NAME"
NOTHING_LEFT = "Nothing was abandoned in the last 30 days."


def snapshot_list(found: Sequence[SnapshotView]) -> str:
    """A line for each snapshot."""
    rows = [[one.deployment, one.name, moment(one.at), one.created_by, f"{one.size_bytes:,}"] for one in found]
    return table(["deployment", "snapshot", "made", "by", "bytes"], rows) if rows else NO_SNAPSHOT


def abandoned_list(found: Sequence[AbandonedView]) -> str:
    """A line for each document that remains."""
    rows = [[one.id, one.deployment, moment(one.at), one.created_by, moment(one.until_at)] for one in found]
    return table(["id", "deployment", "abandoned", "by", "kept until"], rows) if rows else NOTHING_LEFT
