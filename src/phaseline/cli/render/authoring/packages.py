"""Packages as text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.cli.render.problems import problem_text, problems_text
from phaseline.cli.render.table import clean, facts, moment, number, section, table

if TYPE_CHECKING:
    from phaseline.cli.render.table import Columns
    from phaseline.model.problems.problem import Problem
    from phaseline.use_cases.commands.packages.enable import EnabledView
    from phaseline.use_cases.commands.packages.install import Installed
    from phaseline.use_cases.commands.packages.sync import Synced, SyncRow
    from phaseline.use_cases.queries.packages.listing import PackageView
    from phaseline.use_cases.tools.build_package import Built, Created


def created_text(found: Created) -> str:
    """Return a text with the files that were written and the next steps."""
    lines = [f"{found.folder}: package_version {found.format}", *(f"  {file}" for file in found.files)]
    return "\n".join([*map(clean, lines), f"Next: phaseline plugins check {clean(found.folder)}"])


def built_text(found: Built) -> str:
    """Return a text about the archive that was built."""
    count = f"{number(found.files, 'file')}, {found.size_bytes:,} bytes"
    said = [f"pre_build_hook: {line}" for line in found.said.splitlines()]
    lines = [*said, f"{found.package}: {found.file} ({count})"]
    return _with_warnings("\n".join(map(clean, lines)), found.warnings)


def installed_package(found: Installed) -> str:
    """Return a text about the package that was installed."""
    row = found.package
    if not found.is_new:
        text = f"Nothing new: {row} is installed with these files already."
    else:
        place = f" in the place of {found.replaced}" if found.replaced else ""
        count = f"{number(row.file_count, 'file')}, {row.size_bytes:,} bytes"
        text = f"Installed: {row}{place} ({count})\n  "
        if found.serves:
            text += f"enabled for {', '.join(map(clean, found.serves))}, from the next execution on"
        else:
            text += f"phaseline deployments plugins enable NAME {row}"
    return _with_warnings(text, found.warnings)


def _with_warnings(text: str, warnings: Sequence[Problem]) -> str:
    return "\n\n".join([text, problems_text(warnings)]) if warnings else text


def package_text(view: PackageView) -> str:
    """Return a text with everything about one package."""
    lines = [
        f"{view.name}=={view.version}: {view.title}",
        *facts(0, ("", view.description)),
        *facts(
            12,
            ("format", view.format),
            ("groups", view.groups),
            *(("for", release) for release in view.releases),
            ("hot-plug", "yes" if view.is_hotpluggable else "no: enabled before a deployment is installed"),
            ("versions", view.versions),
            ("enabled in", view.enabled_in),
            ("imported by", view.imported_by),
        ),
        *section("tasks", view.tasks),
        *section(
            "settings", (f"{one.id} = {json.dumps(one.value)}  {one.label} ({one.type})" for one in view.settings)
        ),
        *section("node roles", (f"{role}  {name}" for role, name in view.roles.items())),
        *section("components", view.components),
        *facts(12, *view.code.items()),
        *(f"  {file} is kept, and handed to tasks" for file in view.documents),
        *facts(
            12,
            ("files", f"{view.file_count:,}, {view.size_bytes:,} bytes, digest {view.digest[:16]}"),
            ("where", view.origin or view.folder),
            ("installed", f"{moment(view.installed_at)} by {view.installed_by}"),
        ),
    ]
    return "\n".join(map(clean, lines))


def synced_text(found: Synced) -> str:
    """Return a table with the outcome for each package, then all problems."""
    if not found.rows:
        return f"No packages. Searched folders: {', '.join(map(clean, found.looked_at))}; see the setting plugins.path."
    columns: Columns[SyncRow] = {
        "package": lambda row: row.package,
        "outcome": lambda row: row.outcome,
        "folder": lambda row: row.folder,
    }
    problems = [problem_text(problem) for row in found.rows for problem in row.problems]
    return "\n\n".join([table(columns, found.rows), *problems])


def enabled_text(view: EnabledView) -> str:
    """Return a text about the package that was enabled, with its settings."""
    place = f" in the place of {view.replaced}" if view.replaced else ""
    lines = [f"{view.package}=={view.version} is enabled for {view.deployment}{place}", *_settings(view.settings, "  ")]
    return _with_warnings("\n".join(map(clean, lines)), view.warnings)


def enabled_list(views: Sequence[EnabledView], deployment: str) -> str:
    """Return a table of the packages that a deployment uses."""
    if not views:
        return f"No packages. Enable one: phaseline deployments plugins enable {clean(deployment)} NAME"
    columns: Columns[EnabledView] = {
        "package": lambda view: view.package or None,
        "version": lambda view: view.version or None,
        "state": lambda view: view.state or None,
        "settings": lambda view: _settings(view.settings, "") if view.state in {"enabled", "imported"} else None,
    }
    if any(view.why for view in views):
        columns = {**columns, "why": lambda view: view.why or None}
    return table(columns, views)


def _settings(settings: Mapping[str, object], indent: str) -> list[str]:
    return [f"{indent}{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in settings.items()]
