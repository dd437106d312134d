"""``phaseline.open().secrets``: keeping secrets from Python programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client.argument_checks import checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import Workplace
    from phaseline.use_cases.commands.secrets import Rotated, SecretView


@checked("secrets")
class Secrets:
    """Values that lie encrypted in the store, and that ``get_secret`` gives to calls."""

    def __init__(self, place: Workplace) -> None:
        """Over this store."""
        self._place = place

    def create(self, name: str, value: str, *, update: bool = False) -> SecretView:
        """Keep a new one; with ``update`` also one that is there already."""
        from phaseline.use_cases.commands.secrets import create_secret

        return create_secret(self._place, name, value, update=update)

    def update(self, name: str, value: str) -> SecretView:
        """Give it a new value: calls that begin from now on get it."""
        from phaseline.use_cases.commands.secrets import update_secret

        return update_secret(self._place, name, value)

    def list(self) -> Sequence[SecretView]:
        """All by name, without their values."""
        from phaseline.use_cases.commands.secrets import list_secrets

        return list_secrets(self._place)

    def show(self, name: str, *, reveal: bool = False) -> SecretView:
        """One of them; its value if ``reveal``."""
        from phaseline.use_cases.commands.secrets import show_secret

        return show_secret(self._place, name, reveal=reveal)

    def delete(self, name: str) -> SecretView:
        """Forget it; calls that ask for it fail from now on."""
        from phaseline.use_cases.commands.secrets import delete_secret

        return delete_secret(self._place, name)

    def rotate(self) -> Rotated:
        """Replace the master key that all of them lie under."""
        from phaseline.use_cases.commands.secrets import rotate

        return rotate(self._place)
