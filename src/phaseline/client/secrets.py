"""Secrets: values that lie encrypted in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.use_cases.commands.secrets import Rotated, SecretView


class SecretsNoun(Noun):
    """Values that lie encrypted in the store, and that ``get_secret`` gives to calls."""

    def create(self, name: str, value: str, *, update: bool = False) -> SecretView:
        """Keep a new one; with ``update`` also one that exists already."""
        return self._call(ops.CREATE_SECRET, name=name, value=value, update=update)

    def update(self, name: str, value: str) -> SecretView:
        """Give it a new value: calls that begin from now on get it."""
        return self._call(ops.UPDATE_SECRET, name=name, value=value)

    def list(self) -> Sequence[SecretView]:
        """All by name, without their values."""
        return self._call(ops.LIST_SECRETS)

    def show(self, name: str, *, reveal: bool = False) -> SecretView:
        """One of them; its value if ``reveal``."""
        return self._call(ops.SHOW_SECRET, name=name, reveal=reveal)

    def delete(self, name: str) -> SecretView:
        """Forget it; calls that ask for it fail from now on."""
        return self._call(ops.DELETE_SECRET, name=name)

    def rotate(self) -> Rotated:
        """Replace the master key that all of them lie under."""
        return self._call(ops.ROTATE_SECRETS)
