"""``phaseline.open().hooks``: hook classes from Python programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client.argument_checks import checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import Workplace
    from phaseline.embedded.reload_plugins import HooksReloaded
    from phaseline.use_cases.queries.hooks import HookList, HookView, Switched
    from phaseline.use_cases.tools.hook_trial import HookTried, Method


@checked("hooks")
class Hooks:
    """Classes that are called before and after every action of a deployment."""

    def __init__(self, place: Workplace) -> None:
        """Over this store."""
        self._place = place

    def list(self, *, deployment: str | None = None) -> HookList:
        """All in the order in which they are called; with a deployment also whether they are on for it."""
        from phaseline.use_cases.queries.hooks import list_hooks

        return list_hooks(self._place, deployment)

    def show(self, name: str, deployment: str | None = None) -> Sequence[HookView]:
        """Those of a name; with a deployment as they are for it."""
        from phaseline.use_cases.queries.hooks import show_hooks

        return show_hooks(self._place, name, deployment)

    def disable(self, name: str, *, deployment: str | None = None, reason: str = "") -> Switched:
        """Have a class called no more; for one deployment only if it is optional."""
        from phaseline.use_cases.queries.hooks import disable_hook

        return disable_hook(self._place, name, deployment=deployment, reason=reason)

    def enable(self, name: str, *, deployment: str | None = None) -> Switched:
        """Have it called again."""
        from phaseline.use_cases.queries.hooks import enable_hook

        return enable_hook(self._place, name, deployment=deployment)

    def reload(self) -> HooksReloaded:
        """Import them anew for actions that begin from now on."""
        from phaseline.embedded.reload_plugins import reload_hooks

        return reload_hooks(self._place)

    def test(self, name: str, deployment: str, *, workflow: str = "install", method: Method = "pre") -> HookTried:
        """Call one method of a class by hand on what a deployment is now."""
        from phaseline.use_cases.tools.hook_trial import try_hook

        return try_hook(self._place, name, deployment, workflow=workflow, method=method)
