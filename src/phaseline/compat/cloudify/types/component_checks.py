"""Check and heal the deployments of Components, by their own workflows, which are awaited (CO16)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.compat.cloudify.types import configuration as config
from phaseline.compat.cloudify.types.component import await_workflow, keep_capabilities
from phaseline.compat.cloudify.types.members import for_each

if TYPE_CHECKING:
    from phaseline.calls.batches.native_items import ItemBatch
    from phaseline.compat.cloudify.types.members import Member
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import DeploymentRow

UPDATE = "update"


def check_status(batch: ItemBatch) -> None:
    """Run ``check_status`` of each Component's deployment; it must pass, and all instances must be started."""
    for_each(batch, lambda member: await_workflow(member, _deployment(member), "check_status", _raise_if_not_whole))


def heal(batch: ItemBatch) -> None:
    """Run ``heal`` of each Component's deployment; all instances must be started after it."""
    for_each(batch, lambda member: await_workflow(member, _deployment(member), "heal", _healed))


def check_drift(batch: ItemBatch) -> None:
    """Run ``check_drift`` of each Component's deployment, and compare the deployment with ``resource_config``."""
    for_each(batch, _check_drift)


def _check_drift(member: Member) -> None:
    row = _deployment(member)
    outer = member.call.site.execution
    if outer.workflow == UPDATE and outer.parameters.get("force_reinstall") is not True:
        # what has drifted would be reinstalled, with all that is in it
        member.item.complete()
        return
    await_workflow(member, row, "check_drift", _compare)


def _deployment(member: Member) -> DeploymentRow:
    """Return the deployment of a Component. Raises: PL-C114 if it is gone."""
    config.raise_if_elsewhere(member)
    name = str(member.part("deployment").get("id") or "")
    row = member.estate.deployment(member.entry, name) if name else None
    if row is None:
        raise config.wrong(
            f"the deployment '{name}' of '{member.item.instance_id}' is gone",
            "let it be made again: phaseline heal, or phaseline reinstall",
        )
    return row


def _raise_if_not_whole(member: Member, row: DeploymentRow) -> None:
    """Let a check pass. Raises: PL-C114 if an instance of the deployment is not started."""
    if not member.estate.is_installed_whole(row):
        raise config.wrong(
            f"the deployment '{row.name}' is not installed as a whole", f"see: phaseline instances list -d {row.name}"
        )
    member.item.complete()


def _healed(member: Member, row: DeploymentRow) -> None:
    keep_capabilities(member, row)
    _raise_if_not_whole(member, row)


def _compare(member: Member, row: DeploymentRow) -> None:
    """Complete with {what differs: [names]}, None if nothing does. Names of the outer's own labels are not compared."""
    found: dict[str, Value] = {}
    known, now = member.part("capabilities"), member.estate.capabilities(member.entry, row.name)
    changed = sorted(name for name in {*known, *now} if known.get(name) != now.get(name))
    if changed:
        found["capabilities"] = [*changed]
    given = config.configuration(member)
    part, blueprint = config.section(given, "deployment"), config.section(given, "blueprint")
    if member.part("deployment").get("ours"):
        there = member.estate.describe(member.entry, row)
        inputs, labels = config.mapping_of(part, "inputs"), config.labels_of_part(part)
        differs = {
            "inputs": any(there.inputs.get(name, value) != value for name, value in inputs.items()),
            "labels": any(tuple(label) not in set(there.labels) for label in labels),
        }
        if any(differs.values()):
            found["deployment"] = [name for name, does in differs.items() if does]
        wanted = config.named(blueprint, "") or str(member.part("blueprint").get("id") or "")
        if wanted.partition("@")[0] != there.blueprint.partition("@")[0]:
            found["blueprint"] = ["id"]
    member.item.complete(found or None)
