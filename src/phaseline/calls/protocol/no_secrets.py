"""Secrets of engines without a store of secrets, as in simulations: none exist, so nothing is masked or sealed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from phaseline.model.blueprint.blueprint import Value


class NoSecrets:
    """Implements ``ports.secrets.SecretSource``."""

    has_seals = guards = False

    def get(self, name: str) -> str:
        """There is none."""
        raise KeyError(name)

    def missing(self, names: Collection[str]) -> Sequence[str]:
        """All names: no secret exists."""
        return sorted(names)

    def learn(self, value: Value) -> None:
        """Keep nothing."""

    def masked(self, text: str) -> str:
        """The argument, unchanged."""
        return text

    def knows(self, text: str) -> bool:  # noqa: ARG002 - the port's signature
        """False: no secret is known."""
        return False

    def sealed(self, value: Value) -> Value:
        """The argument, unchanged."""
        return value

    def unsealed(self, value: Value) -> Value:
        """The argument, unchanged."""
        return value
