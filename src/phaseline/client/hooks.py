"""The methods ``client.hooks``: hook classes are called before and after every action of a deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.embedded.reload_plugins import HooksReloaded
    from phaseline.use_cases.queries.hooks import HookList, HookView, Switched
    from phaseline.use_cases.tools.hook_trial import HookTried, Method


class HooksNoun(Noun):
    """Hook classes, which are called before and after every action of a deployment."""

    def list(self, *, deployment: str | None = None) -> HookList:
        """Return all hook classes in calling order; with a deployment, also whether each is enabled for it."""
        return self._call(ops.LIST_HOOKS, deployment=deployment)

    def show(self, name: str, deployment: str | None = None) -> Sequence[HookView]:
        """Return the hook classes with this name; with a deployment, as they are enabled or disabled for it."""
        return self._call(ops.SHOW_HOOKS, name=name, deployment=deployment)

    def disable(self, name: str, *, deployment: str | None = None, reason: str = "") -> Switched:
        """Disable a hook class; for a single deployment only if the class is optional."""
        return self._call(ops.DISABLE_HOOK, name=name, deployment=deployment, reason=reason)

    def enable(self, name: str, *, deployment: str | None = None) -> Switched:
        """Enable a hook class again."""
        return self._call(ops.ENABLE_HOOK, name=name, deployment=deployment)

    def reload(self) -> HooksReloaded:
        """Import the hook classes again, for actions that begin from now on."""
        return self._call(ops.RELOAD_HOOKS)

    def test(self, name: str, deployment: str, *, workflow: str = "install", method: Method = "pre") -> HookTried:
        """Call one method of a hook class by hand, on the present state of a deployment."""
        return self._call(ops.TRY_HOOK, name=name, deployment=deployment, workflow=workflow, method=method)
