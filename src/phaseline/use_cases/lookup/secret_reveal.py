"""Decrypt stored values of a deployment for computing, and hide secrets in them for display."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from phaseline.model.deployment.sealed_values import HIDDEN, hidden_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value


def opened_inputs(ctx: RequestContext, deployment: int) -> Mapping[str, Value]:
    """Return the decrypted inputs of a deployment. From then on, the vault masks the secret ones in all output."""
    inputs = ctx.store.inputs(deployment)
    hidden = hidden_inputs(ctx.store.blueprint(deployment)) & inputs.keys()
    if not hidden:
        return inputs
    opened = {name: ctx.vault.unsealed(value) if name in hidden else value for name, value in inputs.items()}
    ctx.vault.learn([opened[name] for name in hidden])
    return opened


def opened_documents(ctx: RequestContext, deployment: int) -> Mapping[int, dict[str, Value]]:
    """Return {instance: decrypted runtime properties} of a deployment."""
    found = ctx.store.documents(deployment)
    if not ctx.vault.has_seals:
        return found
    return {number: cast("dict[str, Value]", ctx.vault.unsealed(body)) for number, body in found.items()}


def without_secrets(ctx: RequestContext, values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values, with ``(hidden)`` in place of every text or number that contains a secret."""
    return {name: _hidden(ctx, value) for name, value in values.items()}


def _hidden(ctx: RequestContext, value: Value) -> Value:
    if isinstance(value, dict):
        return {name if not ctx.vault.knows(name) else HIDDEN: _hidden(ctx, item) for name, item in value.items()}
    if isinstance(value, list):
        return [_hidden(ctx, item) for item in value]
    return HIDDEN if ctx.vault.holds(value) else value
