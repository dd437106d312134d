"""Packages as text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.cli.render.problems import problem_text, problems_text
from phaseline.cli.render.table import clean, moment, number, table

if TYPE_CHECKING:
    from phaseline.model.problems.problem import Problem
    from phaseline.use_cases.commands.packages.enable import EnabledView
    from phaseline.use_cases.commands.packages.install import Installed
    from phaseline.use_cases.commands.packages.sync import Synced
    from phaseline.use_cases.queries.packages.listing import PackageView
    from phaseline.use_cases.tools.build_package import Built, Created


def created_text(found: Created) -> str:
    """The files that were written, and the next steps."""
    lines = [f"{found.folder}: package_version {found.format}", *(f"  {file}" for file in found.files)]
    return "\n".join([*map(clean, lines), f"Next: phaseline plugins check {clean(found.folder)}"])


def built_text(found: Built) -> str:
    """The archive that was built."""
    count = f"{number(found.files, 'file')}, {found.size_bytes:,} bytes"
    said = [f"pre_build_hook: {line}" for line in found.said.splitlines()]
    lines = [*said, f"{found.package}: {found.file} ({count})"]
    return _with_warnings("\n".join(map(clean, lines)), found.warnings)


def installed_package(found: Installed) -> str:
    """The package that was installed."""
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
    """Everything about one package."""
    users = [f"  enabled in  {', '.join(view.enabled_in)}"] if view.enabled_in else []
    users += [f"  imported by {', '.join(view.imported_by)}"] if view.imported_by else []
    lines = [
        f"{view.name}=={view.version}: {view.title}",
        *([f"  {view.description}"] if view.description else []),
        f"  format      {view.format}",
        *([f"  groups      {', '.join(view.groups)}"] if view.groups else []),
        *(f"  for         {release}" for release in view.releases),
        f"  hot-plug    {'yes' if view.is_hotpluggable else 'no: enabled before a deployment is installed'}",
        f"  versions    {', '.join(view.versions)}",
        *users,
        *_listed("tasks", view.tasks),
        *_listed(
            "settings", [f"{one.id} = {json.dumps(one.value)}  {one.label} ({one.type})" for one in view.settings]
        ),
        *_listed("node roles", [f"{role}  {name}" for role, name in view.roles.items()]),
        *_listed("components", view.components),
        *(f"  {f'{what}':<11} {', '.join(names)}" for what, names in view.code.items()),
        *(f"  {file} is kept, and handed to tasks" for file in view.documents),
        f"  files       {view.file_count:,}, {view.size_bytes:,} bytes, digest {view.digest[:16]}",
        f"  where       {view.origin or view.folder}",
        f"  installed   {moment(view.installed_at)} by {view.installed_by}",
    ]
    return "\n".join(map(clean, lines))


def _listed(title: str, lines: Sequence[str]) -> list[str]:
    return [f"  {title}", *(f"    {line}" for line in lines)] if lines else []


def synced_text(found: Synced) -> str:
    """A table with the outcome of each, then all problems."""
    if not found.rows:
        return f"No packages. Looked at: {', '.join(map(clean, found.looked_at))}; see the setting plugins.path."
    rows = [[clean(cell) for cell in (row.package, row.outcome, row.folder)] for row in found.rows]
    problems = [problem_text(problem) for row in found.rows for problem in row.problems]
    return "\n\n".join([table(["package", "outcome", "folder"], rows), *problems])


def enabled_text(view: EnabledView) -> str:
    """The package that was enabled, with its settings."""
    place = f" in the place of {view.replaced}" if view.replaced else ""
    lines = [f"{view.package}=={view.version} is enabled for {view.deployment}{place}", *_settings(view.settings, "  ")]
    return _with_warnings("\n".join(map(clean, lines)), view.warnings)


def enabled_list(views: Sequence[EnabledView], deployment: str) -> str:
    """A table of the packages of a deployment."""
    if not views:
        return f"No packages. Enable one: phaseline deployments plugins enable {clean(deployment)} NAME"
    has_reasons = any(view.why for view in views)
    head = ["package", "version", "state", "settings", *(["why"] if has_reasons else [])]
    rows = [
        [
            view.package,
            view.version,
            view.state,
            ", ".join(_settings(view.settings, "")) if view.state in {"enabled", "imported"} else "-",
            *([view.why or "-"] if has_reasons else []),
        ]
        for view in views
    ]
    return table(head, [[clean(cell) or "-" for cell in row] for row in rows])


def _settings(settings: Mapping[str, object], indent: str) -> list[str]:
    return [f"{indent}{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in settings.items()]
