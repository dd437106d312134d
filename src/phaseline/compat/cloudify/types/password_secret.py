"""Nodes that draw a password and keep it as a secret, encrypted in the transaction of the outcome (CO19)."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from phaseline.compat.cloudify.types import configuration as config
from phaseline.compat.cloudify.types.members import for_each
from phaseline.model.blueprint import composition
from phaseline.model.rows.follow_ups import FollowUp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.calls.batches.native_items import ItemBatch
    from phaseline.compat.cloudify.types.members import Member
    from phaseline.model.blueprint.blueprint import Value

PROPERTIES = ("length", *composition.CHARACTER_GROUPS)


def validate(batch: ItemBatch) -> None:
    """Check the length and the numbers of characters of each node."""
    for_each(batch, _validate)


def _validate(member: Member) -> None:
    _wanted(member)
    member.item.complete()


def _wanted(member: Member) -> dict[str, Value]:
    """Return the rules of the password. Raises: PL-C114 if no password can have it."""
    found: dict[str, Value] = {name: value for name in PROPERTIES if (value := member.value(name)) is not None}
    for message, mend in composition.password_flaws(found):
        raise config.wrong(message, mend)
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
    text = draw_password(_wanted(member), secrets.SystemRandom())
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


def draw_password(properties: Mapping[str, Value], chance: secrets.SystemRandom) -> str:
    """Return a password that has the wanted number of characters of each kind."""
    length = int(str(properties.get("length", 8)))
    counts = {name: int(str(properties.get(name, 0))) for name in composition.CHARACTER_GROUPS}
    found = [
        chance.choice(composition.CHARACTER_GROUPS[name])
        for name, count in counts.items()
        for _ in range(max(count, 0))
    ]
    allowed = "".join(composition.CHARACTER_GROUPS[name] for name, count in counts.items() if count >= 0)
    found += [chance.choice(allowed) for _ in range(length - len(found))]
    chance.shuffle(found)
    return "".join(found)
