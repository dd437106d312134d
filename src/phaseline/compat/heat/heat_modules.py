"""Replacements for the few modules of Heat that its lifecycle plug-ins import, used only if no real ``heat`` is
installed.

Their finder comes last in ``sys.meta_path``, so that a real ``heat`` is always preferred. It is installed before the
first class of Heat's entry-point group is imported. ``heat.engine.lifecycle_plugin`` contains only the base class.
``heat.common.config`` registers the option that the plug-ins read. Plug-ins must bring their own ``oslo`` packages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any

from phaseline.hooks.lifecycle_hook import LifecycleHook

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.blueprint.blueprint import Value

PLUGIN, CONFIG, I18N = "heat.engine.lifecycle_plugin", "heat.common.config", "heat.common.i18n"


class LifecyclePlugin(LifecycleHook):
    """The base class of hook classes under Heat's name."""


def _with_base_class(module: ModuleType) -> None:
    module.LifecyclePlugin = LifecyclePlugin  # type: ignore[attr-defined]  # a module made here


def _with_options(_module: ModuleType) -> None:
    """Register the option that plug-ins read by ``CONF.import_opt``; without ``oslo.config`` do nothing."""
    try:
        from oslo_config import cfg  # type: ignore[import-not-found]  # a package of the plug-in's
    except ImportError:
        return
    cfg.CONF.register_opt(cfg.BoolOpt("stack_scheduler_hints", default=False))


def _with_translation(module: ModuleType) -> None:
    """Define the names by which plug-ins mark texts for translation; they return the texts untranslated."""
    for name in ("_", "_LI", "_LW", "_LE", "_LC"):
        setattr(module, name, str)
    module.repr_wraper = lambda made: made  # type: ignore[attr-defined]  # the misspelled name is Heat's


def _empty(_module: ModuleType) -> None:
    """Leave the module empty: it is a package that only contains other modules."""


CONTENTS: Mapping[str, Callable[[ModuleType], None]] = {
    "heat": _empty,
    "heat.common": _empty,
    CONFIG: _with_options,
    I18N: _with_translation,
    "heat.engine": _empty,
    PLUGIN: _with_base_class,
}
"""All replaced modules of Heat: {module: function that fills it}."""


class HeatFinder:
    """Finder and loader of the replaced modules of Heat."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return the spec of a replaced module, or None for any other module."""
        if fullname not in CONTENTS:
            return None
        is_package = CONTENTS[fullname] is _empty
        return ModuleSpec(fullname, self, is_package=is_package)  # type: ignore[arg-type]  # its abstract class costs 8 ms

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return None, so that Python creates an ordinary module object."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fill the new module with its contents."""
        CONTENTS[module.__name__](module)


def offer() -> None:
    """Let ``import heat.engine.lifecycle_plugin`` find the replacement, unless a real ``heat`` is installed."""
    if not any(isinstance(finder, HeatFinder) for finder in sys.meta_path):
        sys.meta_path.append(HeatFinder())


def configure(options: Mapping[str, Value]) -> None:
    """Set options of ``oslo_config.cfg.CONF``, if a plug-in brings this package: {``option`` or ``group.option``:
    value}.

    A plug-in's call ``CONF()`` then reads these options, too, and never the arguments of Phaseline's own command.
    Options that a plug-in registers later also get their values from ``options``.
    """
    try:
        from oslo_config import cfg
    except ImportError:
        return
    conf, kind = cfg.CONF, getattr(cfg, "ConfigOpts", None)
    if kind is None or not isinstance(conf, kind) or hasattr(type(conf), "given_by_settings"):
        return

    class Given(type(conf)):  # type: ignore[misc]  # a class of the plug-in's library
        given_by_settings = True

        def __call__(self, args: Sequence[str] | None = None, *others: Any, **named: Any) -> Any:
            with TemporaryDirectory(prefix="phaseline-") as folder:
                file = Path(folder, "heat.conf")
                file.touch(mode=0o600)
                file.write_text(_ini(options), "utf-8")
                files = [str(file), *(named.pop("default_config_files", None) or ())]
                return super().__call__(args or [], *others, default_config_files=files, **named)

    conf.__class__ = Given
    conf()


def _ini(options: Mapping[str, Value]) -> str:
    """Return the options as the text of a configuration file of oslo.config.

    >>> _ini({"debug": True, "valet.url": "http://x", "valet.zones": ["a", "b"]})
    '[DEFAULT]\\ndebug = true\\n[valet]\\nurl = http://x\\nzones = a,b\\n'
    """
    groups: dict[str, list[str]] = {}
    for name, value in options.items():
        group, _, option = name.rpartition(".")
        words = value if isinstance(value, list) else [value]
        told = ",".join(str(word).lower() if isinstance(word, bool) else str(word) for word in words)
        groups.setdefault(group or "DEFAULT", []).append(f"{option} = {told.replace(chr(10), ' ')}\n")
    return "".join(f"[{group}]\n{''.join(lines)}" for group, lines in groups.items())
