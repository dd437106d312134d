"""Nodes that draw a password and keep it as a secret, encrypted in the transaction of the outcome (CO19)."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from phaseline.compat.cloudify.types import configuration as config
from phaseline.compat.cloudify.types import password_rules
from phaseline.compat.cloudify.types.members import for_each
from phaseline.model.rows.follow_ups import FollowUp

if TYPE_CHECKING:
    from phaseline.calls.batches.native_items import ItemBatch
    from phaseline.compat.cloudify.types.members import Member
    from phaseline.model.blueprint.blueprint import Value

PROPERTIES = ("length", *password_rules.GROUPS)


def validate(batch: ItemBatch) -> None:
    """Check the length and the numbers of characters of each node."""
    for_each(batch, lambda member: _wanted(member, is_only_checked=True))


def _wanted(member: Member, *, is_only_checked: bool = False) -> dict[str, Value]:
    """Return the rules of the password. Raises: PL-C114 if no password can have it."""
    found: dict[str, Value] = {name: value for name in PROPERTIES if (value := member.value(name)) is not None}
    for message, mend in password_rules.flaws(found):
        raise config.wrong(message, mend)
    if is_only_checked:
        member.item.complete()
    return found


def create(batch: ItemBatch) -> None:
    """Draw and store the password of each node; its clear text is in no runtime property."""
    for_each(batch, _create)


def _create(member: Member) -> None:
    name = str(member.value("secret_name") or f"ps_{member.item.deployment_id}_{member.item.instance_id}")
    made = isinstance(member.call.data, dict) and bool(member.call.data.get("made"))
    if made or (member.value("use_secret_if_exists") and member.estate.has_secret(member.entry, name)):
        member.runtime["password"] = {"get_secret": name}
        member.runtime["secret"] = {"name": name, "ours": made}
        member.call.data = None
        member.item.complete()
        return
    text = password_rules.draw(_wanted(member), secrets.SystemRandom())
    row = member.estate.prepare_secret(member.entry, name, text)
    member.call.data = {"made": True}
    member.again(0, f"stores the secret '{name}'", FollowUp(secrets=(row,)))


def delete(batch: ItemBatch) -> None:
    """Delete the secret of each node that has made one."""
    for_each(batch, _delete)


def _delete(member: Member) -> None:
    known = member.part("secret")
    for key in ("password", "secret"):
        member.runtime.pop(key, None)
    member.item.complete()
    if known.get("ours"):
        member.follow(FollowUp(deletes_secrets=(str(known["name"]),)))
