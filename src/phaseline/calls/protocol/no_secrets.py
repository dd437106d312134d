"""A source of secrets for engines that have none, such as simulations: nothing is masked or encrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.ports.secrets import SecretSource


class NoSecrets:
    """A source without secrets; implements ``ports.secrets.SecretSource``."""

    has_seals = guards = False

    def of_tenant(self, tenant: str) -> SecretSource:  # noqa: ARG002 - the port's signature
        """Return this source."""
        return self

    def get(self, name: str) -> str:
        """Raise ``KeyError``, because no secret exists."""
        raise KeyError(name)

    def missing(self, names: Collection[str]) -> Sequence[str]:
        """Return all names, because no secret exists."""
        return sorted(names)

    def learn(self, value: Value) -> None:
        """Do nothing."""

    def masked(self, text: str) -> str:
        """Return the text unchanged."""
        return text

    def knows(self, text: str) -> bool:  # noqa: ARG002 - the port's signature
        """Return False, because no secret is known."""
        return False

    def sealed(self, value: Value) -> Value:
        """Return the value unchanged."""
        return value

    def unsealed(self, value: Value) -> Value:
        """Return the value unchanged."""
        return value
