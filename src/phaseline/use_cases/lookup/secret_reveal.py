"""What a deployment knows, with its secrets opened for computing, and hidden again in what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from phaseline.model.deployment.sealed_values import HIDDEN, hidden_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.app.app_context import Workplace
    from phaseline.model.blueprint.blueprint import Value


def opened_inputs(place: Workplace, deployment: int) -> Mapping[str, Value]:
    """The inputs; those that are secrets are known to the vault from now on."""
    inputs = place.store.inputs(deployment)
    hidden = hidden_inputs(place.store.blueprint(deployment)) & inputs.keys()
    if not hidden:
        return inputs
    opened = {name: place.vault.unsealed(value) if name in hidden else value for name, value in inputs.items()}
    place.vault.learn([opened[name] for name in hidden])
    return opened


def opened_documents(place: Workplace, deployment: int) -> Mapping[int, dict[str, Value]]:
    """{instance: runtime properties}."""
    found = place.store.documents(deployment)
    if not place.vault.has_seals:
        return found
    return {number: cast("dict[str, Value]", place.vault.unsealed(body)) for number, body in found.items()}


def without_secrets(place: Workplace, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values with ``(hidden)`` in the place of every text and number in which a secret is."""
    return {name: _hidden(place, value) for name, value in values.items()}


def _hidden(place: Workplace, value: Value) -> Value:
    if isinstance(value, dict):
        return {name if not place.vault.knows(name) else HIDDEN: _hidden(place, item) for name, item in value.items()}
    if isinstance(value, list):
        return [_hidden(place, item) for item in value]
    return HIDDEN if place.vault.holds(value) else value
