"""Stored blueprints as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import moment, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.use_cases.commands.upload_blueprint import Shelved, Stored, Uploaded

USERS_SHOWN = 3
"""The largest number of dependents of a blueprint that a list names."""


def uploaded_text(done: Uploaded) -> str:
    """The blueprint that was stored, and the commands that use it."""
    row = done.blueprint
    if not done.is_new:
        return f"Nothing new: {row} has these files already."
    count = f"{row.file_count} file{'s' * (row.file_count != 1)}"
    return f"Stored as {row}: {count}, {row.size_bytes:,} bytes.\n  phaseline install {row.id} -d NAME"


def blueprint_list(found: Sequence[Shelved]) -> str:
    """A table, or the next command when there are none."""
    if not found:
        return "No stored blueprints yet. Store one:\n  phaseline blueprints upload blueprint.yaml"
    head = ["id", "newest", "versions", "files", "bytes", "uploaded", "by", "needed by"]
    rows = []
    for each in found:
        row = each.blueprint
        users = [user.name for user in each.users]
        more = f" and {len(users) - USERS_SHOWN} more" if len(users) > USERS_SHOWN else ""
        rows.append(
            [
                row.id,
                str(row.version),
                str(each.versions),
                str(row.file_count),
                f"{row.size_bytes:,}",
                moment(row.created_at),
                row.created_by,
                ", ".join(users[:USERS_SHOWN]) + more or "-",
            ]
        )
    return table(head, rows)


def blueprint_text(found: Stored) -> str:
    """Everything about one version."""
    row = found.blueprint
    lines = [
        str(row),
        *([f"  {row.description}"] if row.description else []),
        f"  main file  {row.main_file} ({row.language})",
        f"  digest     {row.digest}",
        f"  uploaded   {moment(row.created_at)} by {row.created_by}",
        f"  versions   {', '.join(str(each.version) for each in found.versions)}",
        *([f"  imports    {', '.join(found.imports)}"] if found.imports else []),
        *(f"  needed by  {user.kind} {user.name}" for user in found.users),
        f"  files      {row.file_count}, {row.size_bytes:,} bytes",
        *(f"    {file.path}{' *' if file.is_executable else ''}" for file in found.files),
    ]
    return "\n".join(lines)
