"""Deployments, instances and blueprints as text, or the next command where there are none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from phaseline.cli.render import estates
from phaseline.cli.render.problems import problem_text
from phaseline.cli.render.table import (
    clean,
    colored,
    counted,
    facts,
    flaws_text,
    left_out,
    moment,
    more,
    number,
    one_line,
    section,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.cli.render.table import Columns
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.queries.deployment_history import DeploymentHistory, Happening
    from phaseline.views.phase_entry import PhaseEntryView
    from phaseline.views.views import DeploymentDetails, DeploymentView, InstanceView, Outputs, Page, Validated


def deployment_list(page: Page[DeploymentView], *, tree: bool = False) -> str:
    """Return a table of deployments; if there are none, the command that makes one. ``tree``: as ``tree_text`` does."""
    if not page.total:
        return (
            "No deployments yet. Make one:\n"
            "  phaseline init hello              writes a small blueprint\n"
            "  phaseline install hello/blueprint.yaml"
        )
    if tree:
        flaws = map(_unreadable, (view for view in page.items if view.flaw))
        return estates.tree_text(page.items) + left_out(page) + "".join(flaws)
    columns: Columns[DeploymentView] = {
        "name": lambda view: view.name,
        "status": lambda view: view.status,
        "instances": lambda view: counted(view.states),
        "latest execution": _latest,
        "created": lambda view: moment(view.created_at),
    }
    unreadable = map(_unreadable, (view for view in page.items if view.flaw))
    return table(columns, page.items) + left_out(page) + "".join(unreadable)


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
        return facts(12, ("cluster", f"of resources; see: phaseline resources list -d {view.name}"))
    gone = "" if view.folder_is_there else " (removed)"
    stored = view.stored_blueprints
    own = f"{stored['']}, stored" if "" in stored else view.blueprint_file
    imported = [("imports", f"{text}, stored, as {name}") for name, text in stored.items() if name]
    return [f"  blueprint   {own}", f"  folder      {view.folder}{gone}", *facts(12, *imported)]


def deployment_text(view: DeploymentDetails) -> str:
    """Return a text with everything about one deployment."""
    left = view.unfinished
    lines = [
        f"{view.name}: {colored(view.status)}",
        *facts(0, ("", view.description.strip())),
        *_origin(view),
        *facts(
            12,
            ("plugins", view.plugin_folders),
            ("created", f"{moment(view.created_at)} by {view.created_by}"),
            ("instances", f"{number(view.instance_count, 'instance')}: {counted(view.states)}"),
            ("latest", _latest(view)),
            ("unfinished", left and f"{left}; retry what failed: phaseline executions retry {left}"),
            ("labels", labels_line(view.labels)),
            ("reads", ", ".join(f"{name} ({', '.join(places)})" for name, places in view.providers.items())),
            ("read by", _readers(view)),
            ("site", view.site_name),
            ("below it", _below(view)),
            ("checks", _checks(view)),
        ),
        *section("inputs", values(view.inputs)),
        *facts(
            12,
            (
                "under way",
                view.under_way and f"{view.under_way}: retry it, or abort it with a scale (-p abort_started=true)",
            ),
        ),
        *section("nodes", (f"{name}: {number(count, 'instance')}" for name, count in view.nodes.items())),
    ]
    return "\n".join(lines)


def _readers(view: DeploymentDetails) -> str:
    left = view.consumer_count - len(view.consumers)
    return ", ".join(view.consumers) + (f" and {left:,} more" if left else "")


def _below(view: DeploymentView) -> str:
    """Return what belongs to a deployment and its worst status, "" if nothing does."""
    parts = [
        f"{number(count, word)}: {status}"
        for count, word, status in (
            (view.sub_services_count, "service", view.sub_services_status),
            (view.sub_environments_count, "environment", view.sub_environments_status),
        )
        if count
    ]
    return "; ".join(parts)


def _checks(view: DeploymentView) -> str:
    parts = ((view.drifted_instances, "drifted"), (view.unavailable_instances, "unavailable"))
    return ", ".join(f"{count:,} {word}" for count, word in parts if count)


def labels_line(labels: Mapping[str, Sequence[str]]) -> str:
    """Return all labels as ``key=value``."""
    return clean(", ".join(f"{key}={value}" for key, values in labels.items() for value in values))


def history_text(found: DeploymentHistory) -> str:
    """Return the history of a deployment: a line for each event, the latest last."""
    columns: Columns[Happening] = {
        "when": lambda one: moment(one.at),
        "execution": lambda one: one.execution,
        "what": lambda one: one.what,
        "by": lambda one: one.actor or "-",
        "": lambda one: one_line(one.details),
    }
    left = found.total - len(found.happenings)
    earlier = f"\n{left:,} earlier ones; see more with --limit N" if left else ""
    return table(columns, found.happenings) + earlier


def outputs_text(found: Outputs) -> str:
    """Return the outputs, then the capabilities, as text."""
    lines = values(found.outputs)
    if found.capabilities:
        lines += ["capabilities:", *(f"  {line}" for line in values(found.capabilities))]
    return "\n".join(lines) or f"The blueprint of '{found.deployment}' has no outputs."


def values(found: Mapping[str, Value]) -> list[str]:
    """Return a line for each name and its value; structures are written as JSON."""
    return [
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in found.items()
    ]


def instance_list(page: Page[InstanceView]) -> str:
    """Return a table of instances, each with its deployment."""
    if not page.total:
        return "No instances. See the deployments: phaseline deployments list" + flaws_text(page.flaws)
    columns: Columns[InstanceView] = {
        "id": lambda view: view.id,
        "node": lambda view: view.node,
        "state": lambda view: view.state,
        "deployment": lambda view: view.deployment,
        "host": lambda view: view.host or "-",
    }
    checks: Columns[InstanceView] = {
        "health": lambda view: view.health or None,
        "drift": lambda view: view.drift or None,
    }
    made = {title: word for title, word in checks.items() if any(map(word, page.items))}
    return table({**columns, **made}, page.items) + left_out(page) + flaws_text(page.flaws)


def instance_text(view: InstanceView) -> str:
    """Return a text with everything about one instance."""
    others = view.relationships[20:]
    lines = [
        f"{view.id}: {colored(view.state)}",
        *facts(
            13,
            ("node", f"{view.node}, number {view.index}"),
            ("deployment", view.deployment),
            ("contained in", view.container or "-"),
            ("host", view.host or "-"),
            ("forbidden", view.restricted_actions),
            ("groups", [id for _, id in view.scaling_groups]),
        ),
        *section("relationships", (f"{kind} -> {target}" for kind, target in view.relationships[:20])),
        *(f"  {line}" for line in more(len(others))),
        *section("phases", map(_phase, view.phases)),
        *section("system properties", values(view.system_properties)),
        *section("runtime properties", values(view.runtime_properties)),
    ]
    return "\n".join(lines)


def _phase(entry: PhaseEntryView) -> str:
    """Return a text about one phase of a node: the state in which it was called, its status, its last message."""
    due = f", next at {moment(entry.next_run_at)}" if entry.next_run_at else ""
    said = clean(f": {entry.message}") if entry.message else ""
    return f"{entry.phase}  {entry.status} in {entry.state}{due}{said}"


def validated_text(found: Validated) -> str:
    """Return the warnings, then a line that the blueprint is valid."""
    warnings = [problem_text(warning) for warning in found.warnings]
    inputs = f", inputs: {', '.join(found.inputs)}" if found.inputs else ""
    return "\n\n".join([*warnings, f"{found.file} is valid: {found.version}, {number(found.nodes, 'node')}{inputs}"])
