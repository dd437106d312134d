"""Dependencies between deployments, saved filters, sites, trees of deployments and drift as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import clean, colored, counted, facts, moment, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.cli.render.table import Columns
    from phaseline.use_cases.commands.estate.filters import FilterView
    from phaseline.use_cases.commands.estate.sites import SiteView
    from phaseline.use_cases.queries.estate.dependencies import DependenciesView, DependencyBranch, DependencyView
    from phaseline.use_cases.queries.estate.drift import DriftView
    from phaseline.views.views import DeploymentView, Page

INDENT = "  "


def dependencies_text(view: DependenciesView) -> str:
    """Return what a deployment reads, and what reads it, as tables or as trees."""
    parts = []
    if view.of is not None:
        title = f"'{view.deployment}' reads" if view.of else f"'{view.deployment}' reads no other deployment"
        body = _table(view.of, "provider") if view.providers is None else _tree(view.providers)
        parts.append(f"{title}:\n{body}" if view.of else title)
    if view.on is not None:
        title = f"'{view.deployment}' is read by" if view.on else f"no other deployment reads '{view.deployment}'"
        body = _table(view.on, "consumer") if view.consumers is None else _tree(view.consumers)
        parts.append(f"{title}:\n{body}" if view.on else title)
    return "\n".join(parts)


def _table(rows: Sequence[DependencyView], first: str) -> str:
    columns: Columns[DependencyView] = {
        first: lambda one: _provider(one) if first == "provider" else one.consumer,
        "kind": lambda one: one.kind,
        "at": lambda one: one.place,
        "function": lambda one: one.function,
    }
    return table(columns, rows)


def _provider(one: DependencyView) -> str:
    if not one.provider:
        return "(known when it is read)"
    return f"{one.provider} (missing)" if one.is_missing else one.provider


def _tree(branches: Sequence[DependencyBranch]) -> str:
    return "\n".join(
        clean(f"{'  ' * one.depth}{one.deployment}: ") + colored(one.status) + clean(_ties(one)) for one in branches
    )


def _ties(one: DependencyBranch) -> str:
    again = ", shown above" if one.is_again else ""
    return f" ({', '.join(one.places)}{again})"


def filter_list(found: Sequence[FilterView]) -> str:
    """Return a table of saved filters; if there are none, the command that creates one."""
    if not found:
        return "No filters yet. Make one:\n  phaseline filters create prod --rule env=prod"
    columns: Columns[FilterView] = {
        "name": lambda view: view.name,
        "for": lambda view: view.noun,
        "rules": lambda view: "; ".join(view.rules),
        "by": lambda view: view.created_by,
    }
    return table(columns, found)


def filter_text(view: FilterView) -> str:
    """Return one saved filter with its rules."""
    way = f"phaseline deployments list --filter @{view.name}" if view.noun == "deployments" else ""
    created = f"{moment(view.created_at)} by {view.created_by}"
    lines = facts(9, ("for", view.noun), ("created", created), ("used by", way))
    return "\n".join([view.name, *lines, *(f"  {rule}" for rule in view.rules)])


def site_list(found: Sequence[SiteView]) -> str:
    """Return a table of sites; if there are none, the command that creates one."""
    if not found:
        return "No sites yet. Make one:\n  phaseline sites create munich --location 48.14,11.58"
    columns: Columns[SiteView] = {
        "name": lambda view: view.name,
        "location": lambda view: view.location or "-",
        "created": lambda view: moment(view.created_at),
        "by": lambda view: view.created_by,
    }
    return table(columns, found)


def site_text(view: SiteView) -> str:
    """Return one site."""
    created = f"{moment(view.created_at)} by {view.created_by}"
    return "\n".join([view.name, *facts(9, ("location", view.location), ("created", created))])


def tree_text(views: Sequence[DeploymentView]) -> str:
    """Return a table with each deployment below the one to which it belongs.

    A deployment that belongs to several is shown below the first of them; one that belongs to none has no indent.
    """
    known = {view.name: view for view in views}
    children: dict[str, list[DeploymentView]] = {}
    tops: list[DeploymentView] = []
    for view in views:
        parent = next((name for name in view.parents if name in known and name != view.name), None)
        (tops if parent is None else children.setdefault(parent, [])).append(view)
    lines: list[tuple[str, DeploymentView]] = []
    waiting = [("", view) for view in reversed(tops)]
    shown: set[str] = set()
    while waiting:
        indent, view = waiting.pop()
        if view.name not in shown:
            shown.add(view.name)
            lines.append((indent, view))
            waiting += [(indent + INDENT, child) for child in reversed(children.get(view.name, ()))]
    lines += [("", view) for view in views if view.name not in shown]
    columns: Columns[tuple[str, DeploymentView]] = {
        "name": lambda one: one[0] + one[1].name,
        "status": lambda one: one[1].status,
        "with all below": lambda one: one[1].deployment_status,
        "instances": lambda one: counted(one[1].states),
        "latest execution": lambda one: one[1].latest_execution or "-",
    }
    return table(columns, lines)


def environment_list(page: Page[DeploymentView]) -> str:
    """Return a table of environments; if there are none, how a deployment becomes one."""
    if not page.total:
        return "No environments yet. Make a deployment one:\n  phaseline deployments labels NAME --add csys-obj-type=environment"
    columns: Columns[DeploymentView] = {
        "name": lambda view: view.name,
        "status": lambda view: view.status,
        "with all below": lambda view: view.deployment_status,
        "services": lambda view: view.sub_services_count,
        "environments": lambda view: view.sub_environments_count,
        "site": lambda view: view.site_name or "-",
    }
    return table(columns, page.items)


def drift_text(found: Sequence[DriftView]) -> str:
    """Return a table of what checks found, and the instances that have drifted or are not healthy."""
    if not found:
        return "No deployments. See: phaseline deployments list"
    columns: Columns[DriftView] = {
        "deployment": lambda view: view.deployment,
        "instances": lambda view: view.instance_count,
        "drifted": lambda view: view.drifted_instances,
        "unavailable": lambda view: view.unavailable_instances,
        "unchecked": lambda view: view.unchecked,
    }
    named = [
        f"{view.deployment}: {word} {', '.join(ids)}{' …' if count > len(ids) else ''}"
        for view in found
        for word, ids, count in (
            ("drifted", view.drifted, view.drifted_instances),
            ("unavailable", view.unavailable, view.unavailable_instances),
        )
        if ids
    ]
    return "\n".join([table(columns, found), *named])
