"""Secrets as text: their records, and their values only on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import moment, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.use_cases.commands.secrets import Rotated, SecretView


def secret_list(found: Sequence[SecretView]) -> str:
    """A table, or the next command when there are none."""
    if not found:
        return "No secrets yet. Make one:\n  phaseline secrets create db_password"
    head = ["name", "version", "changed", "by"]
    return table(head, [[view.name, str(view.version), moment(view.updated_at), view.updated_by] for view in found])


def secret_text(view: SecretView) -> str:
    """The value alone if it was requested, so that it can be piped; otherwise everything else."""
    if view.value is not None:
        return view.value
    return "\n".join(
        (
            view.name,
            f"  version  {view.version}",
            f"  created  {moment(view.created_at)} by {view.created_by}",
            f"  changed  {moment(view.updated_at)} by {view.updated_by}",
            f"  value    phaseline secrets show {view.name} --reveal",
        )
    )


def kept_text(view: SecretView) -> str:
    """The secret that was stored, and how blueprints use it."""
    note = f"\nnote: {view.notice}" if view.notice else ""
    how = f"In a blueprint: {{get_secret: {view.name}}}"
    return f"The secret '{view.name}' is kept, version {view.version}. {how}{note}"


def rotated_text(done: Rotated) -> str:
    """The line about the new master key, and the next step."""
    count = f"{done.keys} key{'s' * (done.keys != 1)}"
    return (
        f"A new master key is in {done.place}; {count} lie under it now. Copy it to where you keep the old one's copy."
    )
