"""Secrets: values that are encrypted in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.use_cases.commands.secrets import Rotated, SecretView


class SecretsNoun(Noun):
    """Secrets: values that are encrypted in the store, and that blueprints read with ``get_secret``."""

    def create(self, name: str, value: str, *, update: bool = False) -> SecretView:
        """Store a new secret; ``update``: replace the value of an existing one."""
        return self._call(ops.CREATE_SECRET, name=name, value=value, update=update)

    def update(self, name: str, value: str) -> SecretView:
        """Give a secret a new value: calls that begin from now on receive it."""
        return self._call(ops.UPDATE_SECRET, name=name, value=value)

    def list(self) -> Sequence[SecretView]:
        """Return all secrets by name, without their values."""
        return self._call(ops.LIST_SECRETS)

    def show(self, name: str, *, reveal: bool = False) -> SecretView:
        """Return one secret, with its value only if ``reveal``."""
        return self._call(ops.SHOW_SECRET, name=name, reveal=reveal)

    def delete(self, name: str) -> SecretView:
        """Delete a secret; calls that need it fail from now on."""
        return self._call(ops.DELETE_SECRET, name=name)

    def rotate(self) -> Rotated:
        """Replace the master key that encrypts all secrets."""
        return self._call(ops.ROTATE_SECRETS)
