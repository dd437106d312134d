"""Create, update, list, show and delete secrets. Their values are shown only on request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import problem_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.model.rows.secrets import SecretRow

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}")
"""Pattern of valid names of secrets."""
MAX_BYTES = 1_048_576
"""Greatest length of a secret, in bytes of UTF-8."""
SHORT = 8
"""Length (characters) below which a secret gets a notice.

Shorter secrets can be guessed and are not masked inside a longer text.
"""


@frozen
class SecretView:
    """A secret. ``value`` is None unless it was requested. ``notice``: a remark about the value. Times in ms."""

    name: str
    version: int
    created_at: int
    created_by: str
    updated_at: int
    updated_by: str
    value: str | None = None
    notice: str = ""


@frozen
class Rotated:
    """The result of replacing the master key.

    ``keys``: number of data keys that are now encrypted with the new master key. ``place``: where the new master key is
    stored.
    """

    keys: int
    place: str


def create_secret(ctx: RequestContext, name: str, value: str, *, update: bool = False) -> SecretView:
    """Store a new secret, or with ``update`` replace the value of an existing one.

    Raises: PL-C051 if it exists and ``update`` is False, PL-C052 for a value and PL-C053 for a name that cannot be one.
    """
    raise_if_unfit(name, value)
    row = ctx.vault.create(name, value, ctx.actor.name)
    if row is None:
        if update:
            return update_secret(ctx, name, value)
        mend = f"give it a new value: phaseline secrets update {name}; or choose another name"
        raise problem_error("PL-C051", f"there is a secret '{name}' already", mend, subject=name)
    return _view(row, value)


def raise_if_unfit(name: str, value: str) -> None:
    """Raise PL-C053 for a name that cannot be that of a secret, PL-C052 for a value that cannot be one."""
    if not NAME.fullmatch(name):
        mend = "begin with a letter, a digit or '_'; then letters, digits, '_', '.' and '-', at most 255 in all"
        raise problem_error("PL-C053", f"'{name}' cannot be the name of a secret", mend)
    _raise_if_unfit(value)


def update_secret(ctx: RequestContext, name: str, value: str) -> SecretView:
    """Give a secret a new value: calls that begin from now on get it. Raises: PL-C050, PL-C052."""
    _raise_if_unfit(value)
    _find(ctx, name)
    row = ctx.vault.update(name, value, ctx.actor.name)
    if row is None:
        mend = f"look at the secret, then repeat this command: phaseline secrets show {name}"
        raise problem_error(
            "PL-C050", f"the secret '{name}' was changed or deleted by another command meanwhile", mend, subject=name
        )
    return _view(row, value)


def list_secrets(ctx: RequestContext) -> Sequence[SecretView]:
    """Return all secrets by name, without their values."""
    return [_view(row) for row in ctx.store.secrets.all()]


def show_secret(ctx: RequestContext, name: str, *, reveal: bool = False) -> SecretView:
    """Return one secret; with ``reveal`` also its value. Raises: PL-C050, PL-S020 to PL-S023."""
    row = _find(ctx, name)
    return _view(row, shown=ctx.vault.get(name) if reveal else None)


def delete_secret(ctx: RequestContext, name: str) -> SecretView:
    """Delete a secret; later calls that read it fail. Raises: PL-C050."""
    row = _find(ctx, name)
    if not ctx.store.secrets.delete(name):
        raise _unknown(ctx, name)
    return _view(row)


def rotate(ctx: RequestContext) -> Rotated:
    """Replace the master key, so that a copy of the old key file can no longer decrypt the store.

    The secrets themselves do not change. If there is a problem, nothing is changed. Raises: PL-S020 to PL-S023.
    """
    return Rotated(ctx.vault.rotate(ctx.app.upkeep.secrets), ctx.vault.key_place)


def _find(ctx: RequestContext, name: str) -> SecretRow:
    row = ctx.store.secrets.find(name)
    if row is None:
        raise _unknown(ctx, name)
    return row


def _unknown(ctx: RequestContext, name: str) -> ProblemsError:
    hint = did_you_mean(name, [row.name for row in ctx.store.secrets.all()])
    mend = f"{hint} list the secrets: phaseline secrets list".strip()
    return problem_error("PL-C050", f"there is no secret '{name}'", mend, subject=name)


def _raise_if_unfit(value: str) -> None:
    mend = "give it with --file FILE, or type it when you are asked"
    if not value:
        raise problem_error("PL-C052", "the secret is empty", mend)
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        raise problem_error("PL-C052", "the secret is not UTF-8 text", "keep binary content in base64") from error
    if size > MAX_BYTES:
        raise problem_error("PL-C052", f"the secret has {size:,} bytes, the limit is {MAX_BYTES:,}", "shorten it")


def _view(row: SecretRow, given: str | None = None, *, shown: str | None = None) -> SecretView:
    notice = ""
    if given is not None and len(given) < SHORT:
        notice = f"it has fewer than {SHORT} characters: easily guessed, and in texts masked less surely"
    elif given is not None and given != given.strip():
        notice = "it begins or ends with white space, which belongs to it"
    return SecretView(
        row.name, row.version, row.created_at, row.created_by, row.updated_at, row.updated_by, shown, notice
    )
