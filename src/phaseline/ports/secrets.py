"""Secrets as calls and the engine use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from phaseline.model.blueprint.blueprint import Value


class SecretSource(Protocol):
    """Supplies secrets to calls, and masks them in everything that is written (decision 30). Safe from any thread."""

    def get(self, name: str) -> str:
        """The secret's text, which is masked from now on. ``KeyError`` if there is none."""
        ...

    def missing(self, names: Collection[str]) -> Sequence[str]:
        """The names without a secret, sorted."""
        ...

    def learn(self, value: Value) -> None:
        """Mask every text and number within the value from now on."""
        ...

    def masked(self, text: str) -> str:
        """The text with known values masked."""
        ...

    def knows(self, text: str) -> bool:
        """Whether the text contains a whole known value."""
        ...

    def sealed(self, value: Value) -> Value:
        """The value for the store, with known values encrypted. The same object if it holds none."""
        ...

    def unsealed(self, value: Value) -> Value:
        """The unsealed value for calls; it is known from now on. Raises: PL-S020, PL-S023."""
        ...

    @property
    def guards(self) -> bool:
        """False while there is nothing to mask and nothing sealed, so that everything may be written unchanged."""
        ...

    @property
    def has_seals(self) -> bool:
        """False while no stored value can be sealed."""
        ...
