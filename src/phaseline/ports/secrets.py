"""Protocol through which calls and the engine use secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from phaseline.model.blueprint.blueprint import Value


class SecretSource(Protocol):
    """Supplies secrets to calls and masks them in everything that is written (decision 30). Any thread may use it.

    A *known* value is a secret text or number that this process has read or been given: it must not be written in
    clear.
    """

    def of_tenant(self, tenant: str) -> SecretSource:
        """Return the source of a tenant's secrets. Known values and sealed values are common to all tenants."""
        ...

    def get(self, name: str) -> str:
        """Return the text of a secret and mask it from now on. Raises ``KeyError`` if no secret has this name."""
        ...

    def missing(self, names: Collection[str]) -> Sequence[str]:
        """Return those of the names for which no secret exists, sorted."""
        ...

    def learn(self, value: Value) -> None:
        """Make every text and number within the value known, so that it is masked from now on."""
        ...

    def masked(self, text: str) -> str:
        """Return the text with all known values masked."""
        ...

    def knows(self, text: str) -> bool:
        """Return True if the text contains a whole known value."""
        ...

    def sealed(self, value: Value) -> Value:
        """Return the value as the store keeps it: known values are encrypted. If it has none, return the same object."""
        ...

    def unsealed(self, value: Value) -> Value:
        """Return the value as calls receive it, with its encrypted parts decrypted; these become known.

        Raises: PL-S020, PL-S023.
        """
        ...

    @property
    def guards(self) -> bool:
        """False while no value is known and none was sealed, so that everything may be written unchanged."""
        ...

    @property
    def has_seals(self) -> bool:
        """False while no value in the store can be sealed (encrypted because it contains a secret)."""
        ...
