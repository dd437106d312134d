"""All hook classes in their total order, and those of them that are called round one action (source 2, "an ordered registry")."""

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
"""Behind the name of a class that is asked once more when all others have agreed."""


class Registry:
    """Classes that were announced, each imported, made and asked once. ``hooks`` are in order, broken ones last."""

    def __init__(self, entries: Iterable[HookEntry], load: Load, *, heat_critical: bool = True) -> None:
        """``load`` makes objects; ``heat_critical``: whether a post of Heat's classes that fails makes the execution fail."""
        known = [read(entry, load) for entry in entries]
        if not heat_critical:
            known = [altered(hook, critical=False) if hook.entry.is_heat else hook for hook in known]
        self._take(known)

    def _take(self, known: Iterable[KnownHook]) -> None:
        self.hooks: tuple[KnownHook, ...] = tuple(sorted(known, key=lambda hook: hook.order))
        self.warnings: tuple[str, ...] = tuple(named_twice(hook.entry for hook in self.hooks))

    def with_more(self, other: Registry) -> Registry:
        """Both in one order; nothing is asked again."""
        found = copy(self)
        found._take((*self.hooks, *other.hooks))  # noqa: SLF001 - of its own kind
        return found

    @property
    def broken(self) -> tuple[KnownHook, ...]:
        """Those that cannot be used."""
        return tuple(hook for hook in self.hooks if hook.fault)

    def find(self, name: str) -> tuple[KnownHook, ...]:
        """Those of a name, or of a key."""
        return tuple(hook for hook in self.hooks if name in (hook.name, hook.entry.key))


def attending(
    hooks: Iterable[KnownHook],
    action: str,
    *,
    besides: Sequence[PinnedHookClass] = (),
    depth: int = 0,
    is_verified: bool = False,
) -> tuple[PinnedHookClass, ...]:
    """The classes called around an action, in order, as an execution pins them.

    Their names are unique, also among those in ``besides``. A class that receives two actions, as Heat's classes do for a
    restart, is listed twice; so is the pre of a ``momentary`` class, with its own name and with ``AT_LAST``.
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
    """A unique name: its own if possible, else with a distinguishing suffix."""
    entry, taken = hook.entry, {one.name for one in others}
    if entry.name not in taken:
        return entry.name
    is_itself = any(one.key == entry.key for one in others)
    name = f"{entry.name} ({told if is_itself else entry.distribution or entry.group})"
    return name if name not in taken else f"{name} {len(taken) + 1}"
