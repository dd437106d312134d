"""Hook classes: called before and after every action of a deployment."""

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
    """Classes that are called before and after every action of a deployment."""

    def list(self, *, deployment: str | None = None) -> HookList:
        """All in the order in which they are called; with a deployment also whether they are on for it."""
        return self._call(ops.LIST_HOOKS, deployment=deployment)

    def show(self, name: str, deployment: str | None = None) -> Sequence[HookView]:
        """Those of a name; with a deployment as they are for it."""
        return self._call(ops.SHOW_HOOKS, name=name, deployment=deployment)

    def disable(self, name: str, *, deployment: str | None = None, reason: str = "") -> Switched:
        """Have a class called no more; for one deployment only if it is optional."""
        return self._call(ops.DISABLE_HOOK, name=name, deployment=deployment, reason=reason)

    def enable(self, name: str, *, deployment: str | None = None) -> Switched:
        """Have it called again."""
        return self._call(ops.ENABLE_HOOK, name=name, deployment=deployment)

    def reload(self) -> HooksReloaded:
        """Import them anew for actions that begin from now on."""
        return self._call(ops.RELOAD_HOOKS)

    def test(self, name: str, deployment: str, *, workflow: str = "install", method: Method = "pre") -> HookTried:
        """Call one method of a class by hand on what a deployment is now."""
        return self._call(ops.TRY_HOOK, name=name, deployment=deployment, workflow=workflow, method=method)
