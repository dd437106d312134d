"""Secrets as text: their records, and their values only on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import facts, moment, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.cli.render.table import Columns
    from phaseline.use_cases.commands.secrets import Rotated, SecretView


def secret_list(found: Sequence[SecretView]) -> str:
    """Return a table of secrets; if there are none, the command that creates one."""
    if not found:
        return "No secrets yet. Make one:\n  phaseline secrets create db_password"
    columns: Columns[SecretView] = {
        "name": lambda view: view.name,
        "version": lambda view: view.version,
        "changed": lambda view: moment(view.updated_at),
        "by": lambda view: view.updated_by,
    }
    return table(columns, found)


def secret_text(view: SecretView) -> str:
    """Return only the value of a secret if it was requested, so that it can be piped; otherwise everything else."""
    if view.value is not None:
        return view.value
    lines = facts(
        9,
        ("version", view.version),
        ("created", f"{moment(view.created_at)} by {view.created_by}"),
        ("changed", f"{moment(view.updated_at)} by {view.updated_by}"),
        ("value", f"phaseline secrets show {view.name} --reveal"),
    )
    return "\n".join([view.name, *lines])


def kept_text(view: SecretView) -> str:
    """Return a text about the secret that was stored, and how blueprints use it."""
    note = f"\nnote: {view.notice}" if view.notice else ""
    how = f"In a blueprint: {{get_secret: {view.name}}}"
    return f"The secret '{view.name}' is stored, version {view.version}. {how}{note}"


def rotated_text(done: Rotated) -> str:
    """Return a line about the new master key, and the next step."""
    count = f"{done.keys} key{'s' * (done.keys != 1)}"
    return f"The new master key is in {done.place} and encrypts {count}. Copy it to where you keep the copy of the old key."
