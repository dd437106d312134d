"""Loads hook classes: a class is imported once, and one object is made of it, until hook classes are reloaded.

An execution that has begun keeps its objects (``hooks.caller``): a reload affects executions that begin later.
"""

from __future__ import annotations

import json
import threading
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.catalog.code.function_loader import Loader
    from phaseline.model.execution.pre_post import PinnedHookClass


class HookCode:
    """Imports hook classes and makes their objects. Safe to use from any thread."""

    def __init__(self, loader: Loader, offer_heat: Callable[[], None] | None = None) -> None:
        """Import nothing yet. ``offer_heat`` is called before a class of Heat's entry-point group is imported."""
        self._offer_heat = offer_heat
        self._loader = loader
        self._lock = threading.RLock()
        self._classes: dict[tuple[str, str], Callable[..., object]] = {}
        self._shared: dict[tuple[str, str, str, str], object] = {}

    def maker(self, hook: PinnedHookClass) -> Callable[[], object]:
        """Return a function that returns an object of the hook class.

        The function makes a new object at each call if the class asks for an object for each execution; otherwise it
        always returns the same object. Raises ``ImportError``, ``AttributeError``, ``TypeError`` or what importing the
        module raised.
        """
        made = partial(self._class(hook), **hook.options)
        return made if hook.per_execution else partial(self._one, hook, made)

    def forget(self) -> None:
        """Forget all classes and objects, so that classes are imported again at their next use.

        Objects in use stay usable.
        """
        with self._lock:
            for implementation, folder in self._classes:
                module = implementation.partition(":")[0]
                if folder:
                    self._loader.forget((folder,))
                self._loader.forget_module(module)
            self._classes.clear()
            self._shared.clear()

    def _class(self, hook: PinnedHookClass) -> Callable[..., object]:
        key = hook.implementation, hook.folder
        with self._lock:
            found = self._classes.get(key)
            if found is None:
                found = self._classes[key] = self._import(hook)
            return found

    def _import(self, hook: PinnedHookClass) -> Callable[..., object]:
        if hook.is_heat and self._offer_heat is not None:
            self._offer_heat()
        module, _, path = hook.implementation.partition(":")
        found: object = self._loader.module(module, (hook.folder,) if hook.folder else ())
        for name in path.split("."):
            found = getattr(found, name)
        if not callable(found):
            raise TypeError(f"'{hook.implementation}' is no class")
        return found

    def _one(self, hook: PinnedHookClass, make: Callable[[], object]) -> object:
        """Return the object that all executions share, made at the first call; different options give different
        objects.
        """
        key = hook.key, hook.implementation, hook.folder, json.dumps(dict(hook.options), sort_keys=True)
        with self._lock:
            found = self._shared.get(key)
            if found is None:
                found = self._shared[key] = make()
            return found
