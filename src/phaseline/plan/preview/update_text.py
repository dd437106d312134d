"""Write the plan of an update as text: nodes with their changed attributes (old -> new), other changes, and rounds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from phaseline.plan.preview.plan_text import counted, plan_text, shown, warning_lines
from phaseline.plan.preview.update_summary import SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from phaseline.model.blueprint.diff import BlueprintChange
    from phaseline.plan.preview.update_summary import NodeChange, UpdatePlan

ACTIONS = ("install", "update", "replace", "reinstall", "uninstall")
ANEW = {
    "replace": "replaced{whose}, only with --allow-replace,",
    "reinstall": "reinstalled{whose}",
}
"""{action: text for instances that are uninstalled and installed again}"""
KINDS = {"added": "+", "removed": "-", "changed": "~"}


def update_text(found: UpdatePlan) -> str:
    """Return the whole plan as text; it ends with a line break."""
    lines = [_head(found)]
    for node in found.nodes:
        lines += ["", *_node(node)]
    if found.changes:
        lines += ["", "the deployment itself:", *(f"    {_step(one)}" for one in found.changes)]
    lines += _may_be_reinstalled(found.may_be_reinstalled)
    total = len(found.rounds)
    if not total:
        lines += ["", "nothing is called"]
    for number, summary in enumerate(found.rounds, 1):
        lines += ["", f"round {number} of {total}: {plan_text(summary).rstrip()}"]
    for warning in found.warnings:
        lines += ["", *warning_lines(warning)]
    return "\n".join(lines) + "\n"


def _head(found: UpdatePlan) -> str:
    actions = Counter(str(node.action) for node in found.nodes)
    told = ", ".join(f"{actions[action]:,} to {action}" for action in ACTIONS if actions[action])
    what = f"{counted(len(found.differences), 'difference')}, {counted(found.calls, 'plugin call')}"
    return f"{found.workflow} of {found.deployment} to {found.blueprint_file}: {what}" + (
        f"; nodes: {told}" if told else ""
    )


def _node(node: NodeChange) -> Iterable[str]:
    counts = "".join(f" {sign}{number:,}" for sign, number in (("+", node.added), ("-", node.removed)) if number)
    yield f"{node.sign} {node.name}  {node.type} × {node.count:,}" + (f" ({counts.strip()})" if counts else "")
    if node.reason:
        whose = "" if node.again == node.count else f" ({node.again:,} of {node.count:,} instances)"
        yield f"    {ANEW[node.action].format(whose=whose)} because {node.reason}"
    for change in node.changes:
        yield f"    {_step(change, node.name)}"


def _may_be_reinstalled(found: Mapping[str, str]) -> Iterable[str]:
    """Yield a line for each reason, with the names of the first ``SHOWN`` nodes and the number of the others."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in found.items():
        by_reason.setdefault(reason, []).append(name)
    if by_reason:
        yield from ("", "may be reinstalled, with what they contain (--skip-reinstall keeps them):")
    for reason, names in by_reason.items():
        more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
        yield f"    {', '.join(names[:SHOWN])}{more}: if {reason}"


def _step(change: BlueprintChange, node: str = "") -> str:
    path = change.path.removeprefix(f"nodes.{node}.").removeprefix("properties.") if node else change.path
    head = f"{KINDS[change.kind]} {path}"
    if change.kind == "changed" and change.old == change.new:
        return f"{head}: takes an input that changes"
    if change.kind == "changed":
        return f"{head}: {shown(change.old)} -> {shown(change.new)}"
    value = change.new if change.kind == "added" else change.old
    return head if value is None or isinstance(value, dict) else f"{head}: {shown(value)}"
