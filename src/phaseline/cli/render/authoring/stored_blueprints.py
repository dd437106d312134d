"""Stored blueprints as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import facts, moment, some, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.cli.render.table import Columns
    from phaseline.use_cases.commands.upload_blueprint import Shelved, Stored, Uploaded

USERS_SHOWN = 3
"""Largest number of users of a blueprint that a list names."""


def uploaded_text(done: Uploaded) -> str:
    """Return a text about the blueprint that was stored and the commands that use it."""
    row = done.blueprint
    if not done.is_new:
        return f"Nothing new: {row} has these files already."
    count = f"{row.file_count} file{'s' * (row.file_count != 1)}"
    return f"Stored as {row}: {count}, {row.size_bytes:,} bytes.\n  phaseline install {row.id} -d NAME"


def blueprint_list(found: Sequence[Shelved]) -> str:
    """Return a table of stored blueprints; if there are none, the command that stores one."""
    if not found:
        return "No stored blueprints yet. Store one:\n  phaseline blueprints upload blueprint.yaml"
    columns: Columns[Shelved] = {
        "id": lambda one: one.blueprint.id,
        "newest": lambda one: one.blueprint.version,
        "versions": lambda one: one.versions,
        "files": lambda one: one.blueprint.file_count,
        "bytes": lambda one: f"{one.blueprint.size_bytes:,}",
        "uploaded": lambda one: moment(one.blueprint.created_at),
        "by": lambda one: one.blueprint.created_by,
        "needed by": lambda one: some([user.name for user in one.users[:USERS_SHOWN]], len(one.users)) or None,
    }
    return table(columns, found)


def blueprint_text(found: Stored) -> str:
    """Return a text with everything about one version of a stored blueprint."""
    row = found.blueprint
    lines = [
        str(row),
        *facts(0, ("", row.description)),
        *facts(
            11,
            ("main file", f"{row.main_file} ({row.language})"),
            ("digest", row.digest),
            ("uploaded", f"{moment(row.created_at)} by {row.created_by}"),
            ("versions", [each.version for each in found.versions]),
            ("imports", found.imports),
            *(("needed by", f"{user.kind} {user.name}") for user in found.users),
            ("files", f"{row.file_count}, {row.size_bytes:,} bytes"),
        ),
        *(f"    {file.path}{' *' if file.is_executable else ''}" for file in found.files),
    ]
    return "\n".join(lines)
