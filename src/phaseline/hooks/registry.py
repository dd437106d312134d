"""All hook classes sorted by their order, and the selection of those that are called around one action.

The Heat document (source 2) calls this "an ordered registry".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING

from phaseline.hooks.declaration import read
from phaseline.hooks.discovery import named_twice
from phaseline.lang.fast_dataclasses import altered

if TYPE_CHECKING:
    from phaseline.hooks.declaration import KnownHook, Load
    from phaseline.hooks.discovery import HookEntry
    from phaseline.model.execution.pre_post import PinnedHookClass

AT_LAST = " (at last)"
"""Suffix of a ``momentary`` hook's name for its second ``do_pre_op`` call, after all other hooks have agreed."""


class Registry:
    """The announced hook classes, each imported and read once.

    ``hooks`` are sorted; classes that cannot be used come last.
    """

    def __init__(self, entries: Iterable[HookEntry], load: Load, *, heat_critical: bool = True) -> None:
        """Read all announced classes with ``load``.

        ``heat_critical``: True if a failing ``do_post_op`` of Heat's classes makes the execution fail.
        """
        known = [read(entry, load) for entry in entries]
        if not heat_critical:
            known = [altered(hook, critical=False) if hook.entry.is_heat else hook for hook in known]
        self._take(known)

    def _take(self, known: Iterable[KnownHook]) -> None:
        self.hooks: tuple[KnownHook, ...] = tuple(sorted(known, key=lambda hook: hook.order))
        self.warnings: tuple[str, ...] = tuple(named_twice(hook.entry for hook in self.hooks))

    def with_more(self, other: Registry) -> Registry:
        """Return a registry with the hooks of both registries, sorted; no class is read again."""
        found = copy(self)
        found._take((*self.hooks, *other.hooks))  # noqa: SLF001 - of its own kind
        return found

    @property
    def broken(self) -> tuple[KnownHook, ...]:
        """The hook classes that cannot be used."""
        return tuple(hook for hook in self.hooks if hook.fault)

    def find(self, name: str) -> tuple[KnownHook, ...]:
        """Return the hook classes with this name or key."""
        return tuple(hook for hook in self.hooks if name in (hook.name, hook.entry.key))


def attending(
    hooks: Iterable[KnownHook],
    action: str,
    *,
    besides: Sequence[PinnedHookClass] = (),
    depth: int = 0,
    is_verified: bool = False,
) -> tuple[PinnedHookClass, ...]:
    """Return the hooks to call around an action, sorted, in the form in which an execution stores them.

    Each hook gets a unique name, which also differs from the names in ``besides``. A class of Heat's group that is
    called for two actions, as for a restart, is listed twice. A ``momentary`` class is listed a second time, unless no
    hook follows it: at the end, with ``AT_LAST`` after its name, and only for ``do_pre_op``.
    """
    found = list(besides)
    again: list[PinnedHookClass] = []
    for hook in hooks:
        for told in () if hook.fault else hook.called_as(action, depth):
            one = hook.pinned(_unlike(hook, told, found), told, is_verified=is_verified)
            found.append(one)
            if hook.momentary and one.has_pre:
                again.append(one)
    if again and again[-1] is found[-1]:
        again.pop()  # no later class could wait for it
    return (*found[len(besides) :], *(altered(one, name=one.name + AT_LAST, has_post=False) for one in again))


def _unlike(hook: KnownHook, told: str, others: Sequence[PinnedHookClass]) -> str:
    """Return a unique name for a hook: its own name if no other hook has it, else its name with a suffix."""
    entry, taken = hook.entry, {one.name for one in others}
    if entry.name not in taken:
        return entry.name
    is_itself = any(one.key == entry.key for one in others)
    name = f"{entry.name} ({told if is_itself else entry.distribution or entry.group})"
    return name if name not in taken else f"{name} {len(taken) + 1}"
