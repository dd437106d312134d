"""Encrypt secret settings of packages for the store, and hide them in all output (decision 30)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from phaseline.model.deployment.sealed_values import HIDDEN, veiled
from phaseline.packages.format.settings_values import secret_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.packages.package import Form


def sealed(ctx: RequestContext, form: Form, settings: Mapping[str, Value]) -> dict[str, Value]:
    """Return the settings to store, with secrets encrypted. The name of a stored secret is not encrypted."""
    secret = _secret(form)
    return {
        name: ctx.vault.seal(value) if name in secret and _is_told(value) else ctx.vault.sealed(value)
        for name, value in settings.items()
    }


def opened(ctx: RequestContext, settings: Mapping[str, Value]) -> dict[str, Value]:
    """Return the decrypted settings, for checks and for conditions. Raises: PL-S020, PL-S023."""
    return cast("dict[str, Value]", ctx.vault.unsealed(dict(settings)))


def shown(form: Form, settings: Mapping[str, Value]) -> dict[str, Value]:
    """Return the settings for display, with secrets hidden. ``settings`` may be encrypted or not."""
    secret = _secret(form)
    return {name: HIDDEN if name in secret and _is_told(value) else veiled(value) for name, value in settings.items()}


def in_clear(form: Form, settings: Mapping[str, Value]) -> list[str]:
    """Return the names of secret settings that are stored in clear text.

    They were stored before the form declared them as secret, or before encryption existed.
    """
    secret = _secret(form)
    return [name for name, value in settings.items() if name in secret and _is_told(value) and veiled(value) == value]


def _secret(form: Form) -> set[str]:
    return {setting.id for setting in form.settings if setting.is_secret}


def _is_told(value: Value) -> bool:
    """Return True for a value that must be hidden, False for an empty value or the name of a stored secret."""
    return value not in (None, "") and not secret_named(value)
