"""Nodes that store a blueprint, and delete it again unless something else uses it (CO19)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.compat.cloudify.types import configuration as config
from phaseline.compat.cloudify.types.component import keep_blueprint, own_blueprint
from phaseline.compat.cloudify.types.members import for_each
from phaseline.model.rows.follow_ups import FollowUp

if TYPE_CHECKING:
    from phaseline.calls.batches.native_items import ItemBatch
    from phaseline.compat.cloudify.types.members import Member


def upload(batch: ItemBatch) -> None:
    """Store the blueprint of each node, unless it is stored already."""
    for_each(batch, _upload)


def _upload(member: Member) -> None:
    given = member.item.inputs.get("blueprint") or member.item.properties.get("blueprint")
    if not isinstance(given, dict):
        raise config.wrong(f"the node '{member.item.node_id}' has no 'blueprint'", "give it one, a mapping")
    keep_blueprint(member, {"blueprint": given})


def delete(batch: ItemBatch) -> None:
    """Delete the blueprint of each node that has stored one, if nothing uses it."""
    for_each(batch, _delete)


def _delete(member: Member) -> None:
    if isinstance(member.call.data, dict) and member.call.data.get("deleted"):
        member.runtime.pop("blueprint", None)
        member.estate.forget_files(member.entry)
        member.call.data = None
        member.item.complete()
        return
    member.call.data = {"deleted": True}
    member.again(
        0, "deletes what it has made", FollowUp(deletes_blueprints=own_blueprint(member, member.part("blueprint")))
    )
