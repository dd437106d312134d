"""Deployments, instances and blueprints as text, or the next command where there are none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from phaseline.cli.render.problems import problem_text
from phaseline.cli.render.table import clean, colored, counted, flaws_text, left_out, moment, number, one_line, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.queries.deployment_history import DeploymentHistory
    from phaseline.views.phase_entry import PhaseEntryView
    from phaseline.views.views import DeploymentDetails, DeploymentView, InstanceView, Outputs, Page, Validated


def deployment_list(page: Page[DeploymentView]) -> str:
    """A table, or the next command when there are none."""
    if not page.total:
        return (
            "No deployments yet. Make one:\n"
            "  phaseline init hello              writes a small blueprint\n"
            "  phaseline install hello/blueprint.yaml"
        )
    head = ["name", "status", "instances", "latest execution", "created"]
    rows = [
        [
            view.name,
            view.status,
            counted(view.states),
            _latest(view),
            moment(view.created_at),
        ]
        for view in page.items
    ]
    return table(head, rows) + left_out(page) + "".join(_unreadable(view) for view in page.items if view.flaw)


def _unreadable(view: DeploymentView) -> str:
    return clean(
        f"\n'{view.name}' cannot be read: {view.flaw}. Remove it: phaseline deployments delete {view.name} --force"
    )


def _latest(view: DeploymentView) -> str:
    if not view.latest_execution:
        return "-"
    before = f"; {view.unfinished} unfinished" if view.unfinished else ""
    return f"{view.latest_execution} ({view.latest_status}){before}"


def _origin(view: DeploymentDetails) -> list[str]:
    if view.kind == "resources":
        return [f"  cluster     of resources; see: phaseline resources list -d {view.name}"]
    gone = "" if view.folder_is_there else " (not there any more)"
    stored = view.stored_blueprints
    own = f"{stored['']}, stored" if "" in stored else view.blueprint_file
    imported = [f"  imports     {text}, stored, as {name}" for name, text in stored.items() if name]
    return [f"  blueprint   {own}", f"  folder      {view.folder}{gone}", *imported]


def deployment_text(view: DeploymentDetails) -> str:
    """Everything about one deployment."""
    lines = [
        f"{view.name}: {colored(view.status)}",
        *([f"  {view.description.strip()}"] if view.description.strip() else []),
        *_origin(view),
        *([f"  plugins     {', '.join(view.plugin_folders)}"] if view.plugin_folders else []),
        f"  created     {moment(view.created_at)} by {view.created_by}",
        f"  instances   {number(view.instance_count, 'instance')}: {counted(view.states)}",
        f"  latest      {_latest(view)}",
    ]
    if view.unfinished:
        lines.append(
            f"  unfinished  {view.unfinished}; try again what failed: phaseline executions retry {view.unfinished}"
        )
    if view.labels:
        lines += [f"  labels      {labels_line(view.labels)}"]
    if view.inputs:
        lines += ["  inputs", *values(view.inputs, "    ")]
    if view.under_way:
        lines.append(f"  under way   {view.under_way}: retry it, or have a scale abort it")
    if view.nodes:
        lines += ["  nodes", *(f"    {name}: {number(count, 'instance')}" for name, count in view.nodes.items())]
    return "\n".join(lines)


def labels_line(labels: Mapping[str, Sequence[str]]) -> str:
    """All labels as ``key=value``."""
    return clean(", ".join(f"{key}={value}" for key, values in labels.items() for value in values))


def history_text(found: DeploymentHistory) -> str:
    """A line for each event, the latest last."""
    head = ["when", "execution", "what", "by", ""]
    rows = [
        [moment(one.at), one.execution, one.what, one.actor or "-", one_line(one.details)] for one in found.happenings
    ]
    left = found.total - len(rows)
    earlier = f"\n{left:,} earlier ones; see more with --limit N" if left else ""
    return table(head, rows) + earlier


def outputs_text(found: Outputs) -> str:
    """Outputs, then capabilities."""
    lines = values(found.outputs, "")
    if found.capabilities:
        lines += ["capabilities:", *values(found.capabilities, "  ")]
    return "\n".join(lines) or f"The blueprint of '{found.deployment}' has no outputs."


def values(found: Mapping[str, Value], indent: str) -> list[str]:
    """One line for each name; structures as JSON."""
    return [f"{indent}{name}: {_shown(value)}" for name, value in found.items()]


def _shown(value: Value) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def instance_list(page: Page[InstanceView]) -> str:
    """A table of instances, each with its deployment."""
    if not page.total:
        return "No instances. See what there is with: phaseline deployments list" + flaws_text(page.flaws)
    head = ["id", "node", "state", "deployment", "host"]
    rows = [[view.id, view.node, view.state, view.deployment, view.host or "-"] for view in page.items]
    for name, words in (
        ("health", [view.health for view in page.items]),
        ("drift", [view.drift for view in page.items]),
    ):
        if any(words):
            head.append(name)
            rows = [[*row, word or "-"] for row, word in zip(rows, words, strict=True)]
    return table(head, rows) + left_out(page) + flaws_text(page.flaws)


def instance_text(view: InstanceView) -> str:
    """Everything about one instance."""
    lines = [
        f"{view.id}: {colored(view.state)}",
        f"  node         {view.node}, number {view.index}",
        f"  deployment   {view.deployment}",
        f"  contained in {view.container or '-'}",
        f"  host         {view.host or '-'}",
    ]
    if view.restricted_actions:
        lines.append(f"  forbidden    {', '.join(view.restricted_actions)}")
    if view.scaling_groups:
        lines.append(f"  groups       {', '.join(id for _, id in view.scaling_groups)}")
    if view.relationships:
        lines += ["  relationships", *(f"    {kind} -> {target}" for kind, target in view.relationships[:20])]
        if len(view.relationships) > 20:
            lines.append(f"    and {len(view.relationships) - 20:,} more")
    if view.phases:
        lines += ["  phases", *(f"    {_phase(entry)}" for entry in view.phases)]
    if view.system_properties:
        lines += ["  system properties", *values(view.system_properties, "    ")]
    if view.runtime_properties:
        lines += ["  runtime properties", *values(view.runtime_properties, "    ")]
    return "\n".join(lines)


def _phase(entry: PhaseEntryView) -> str:
    """One phase of a node: the state in which it was called, its status, its last message."""
    due = f", next at {moment(entry.next_run_at)}" if entry.next_run_at else ""
    said = clean(f": {entry.message}") if entry.message else ""
    return f"{entry.phase}  {entry.status} in {entry.state}{due}{said}"


def validated_text(found: Validated) -> str:
    """Warnings, then the line that the blueprint is valid."""
    warnings = [problem_text(warning) for warning in found.warnings]
    inputs = f", inputs: {', '.join(found.inputs)}" if found.inputs else ""
    return "\n\n".join([*warnings, f"{found.file} is valid: {found.version}, {number(found.nodes, 'node')}{inputs}"])
