"""The few modules of Heat that its lifecycle plug-ins import, found only where no distribution has a ``heat`` of its own.

The finder comes last, so that a real ``heat`` is always preferred, and it is put in when the first class of Heat's group is
loaded. ``heat.engine.lifecycle_plugin`` has the base class and nothing else; ``heat.common.config`` registers the option that
the plug-ins read. ``oslo`` packages are theirs to bring.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

from phaseline.hooks.lifecycle_hook import LifecycleHook

if TYPE_CHECKING:
    from collections.abc import Sequence

PLUGIN, CONFIG = "heat.engine.lifecycle_plugin", "heat.common.config"


class LifecyclePlugin(LifecycleHook):
    """Heat's name for the base class of hook classes."""


def _with_base_class(module: ModuleType) -> None:
    module.LifecyclePlugin = LifecyclePlugin  # type: ignore[attr-defined]  # a module that is made here


def _with_options(_module: ModuleType) -> None:
    """Register what plug-ins name to ``CONF.import_opt``; where they bring no ``oslo.config`` they name nothing."""
    try:
        from oslo_config import cfg  # type: ignore[import-not-found]  # a package of the plug-in's
    except ImportError:
        return
    cfg.CONF.register_opt(cfg.BoolOpt("stack_scheduler_hints", default=False))


def _empty(_module: ModuleType) -> None:
    """A package that holds others."""


CONTENTS: Mapping[str, Callable[[ModuleType], None]] = {
    "heat": _empty,
    "heat.common": _empty,
    CONFIG: _with_options,
    "heat.engine": _empty,
    PLUGIN: _with_base_class,
}
"""{module: what fills it}."""


class HeatFinder:
    """Finds those modules, and makes them."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """The spec of one of them; None for all others."""
        if fullname not in CONTENTS:
            return None
        is_package = CONTENTS[fullname] is _empty
        return ModuleSpec(fullname, self, is_package=is_package)  # type: ignore[arg-type]  # its abstract class costs 8 ms

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As always."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fill it."""
        CONTENTS[module.__name__](module)


def offer() -> None:
    """Let ``import heat.engine.lifecycle_plugin`` find ours, unless there is a real one."""
    if not any(isinstance(finder, HeatFinder) for finder in sys.meta_path):
        sys.meta_path.append(HeatFinder())
