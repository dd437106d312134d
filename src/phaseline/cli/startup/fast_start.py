"""A fast start for short commands: they load nothing that they do not use, and run no garbage collection.

The effects are measured in docs/benchmarks.md and justified in docs/adr/0020. Values that a user has set stay
unchanged.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import urllib  # noqa: F401  # so that its part that waits is bound to it
from collections.abc import Callable
from types import GenericAlias, ModuleType
from typing import Any

from phaseline.cli.startup import deferred_modules as later
from phaseline.cli.startup import module_finder as own_modules

MADE_BETWEEN_LOOKS = 100_000
"""Number of new objects that starts a garbage collection.

Importing makes fewer objects, which all stay in use, so that collecting them would be useless.
"""
OPENBLAS = "OPENBLAS_NUM_THREADS"
THREADS = (OPENBLAS, "OMP_NUM_THREADS", "GOTO_NUM_THREADS")
"""Environment variables for numpy's linear algebra, which by default starts a thread for each processor."""
DOCUMENTATION = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")
"""Modules with the help texts of numpy. Without them, numpy works as under Python's option ``-OO``."""
ANNOTATIONS = "numpy._typing"
"""Module of types for numpy's annotations. It takes a quarter of numpy's loading time, and five annotations use it."""
LINEAR_ALGEBRA = "numpy.linalg"
"""Module from which numpy takes four functions while it is loaded, for its matrices and polynomials."""
SELDOM = (
    "ast", "ctypes", "fnmatch", "importlib.util", "ntpath", "pickle", "shlex", "textwrap", "traceback", "uuid",
    "numpy.lib.mixins", "numpy.lib.scimath",
)  # fmt: skip
"""Modules of Python and numpy that click, numpy and Phaseline import for features that most commands do not use."""
PACKAGES = ("ctypes",)
"""Those modules of ``SELDOM`` that are packages."""

_lent: list[str] = []
_codes: list[int] = []


def begin() -> None:
    """Prepare the fast start. A command calls this first, before anything loads numpy."""
    gc.set_threshold(MADE_BETWEEN_LOOKS)
    own_modules.find_directly()
    if not atexit._ncallbacks():  # noqa: SLF001 - functions registered earlier would run after ours
        atexit.register(_leave)
    for name in DOCUMENTATION:
        sys.modules.setdefault(name, ModuleType(name))
    for name in SELDOM:
        later.put_off(name, is_package=name in PACKAGES)
    later.put_off("inspect", {"cleandoc": cleandoc, "signature": signature})
    later.put_off("platform", {"system": lambda: os.uname().sysname})
    later.put_off("urllib.parse", {"quote_from_bytes": quote_from_bytes})
    later.put_off("gettext", {"gettext": gettext, "ngettext": ngettext})
    later.put_off(ANNOTATIONS, {"NDArray": Annotation}, is_package=True)
    taken = ("eigvals", "inv", "lstsq", "matrix_power")
    later.put_off(LINEAR_ALGEBRA, {name: _lent_by(LINEAR_ALGEBRA, name) for name in taken}, is_package=True)
    if not any(name in os.environ for name in THREADS):
        os.environ[OPENBLAS] = "1"
        _lent.append(OPENBLAS)


def load_click() -> None:
    """Load click without loading ``uuid``.

    click defines a parameter type named after ``uuid.UUID``, but does not need the module for that.
    """
    uuid = sys.modules.get("uuid")
    if isinstance(uuid, later.DeferredModule):
        vars(uuid)["UUID"] = Annotation
    import click  # noqa: F401

    if uuid is not None and vars(uuid).get("UUID") is Annotation:
        del vars(uuid)["UUID"]


def load() -> None:
    """Load numpy, then remove its variables from the environment, which programs started later must not inherit."""
    import numpy as np

    later.bind(np, ANNOTATIONS)
    later.bind(np, LINEAR_ALGEBRA)
    while _lent:
        del os.environ[_lent.pop()]


def end(code: int) -> None:
    """Set the exit code with which the process ends. Threads and exit functions are still awaited."""
    gc.freeze()
    _codes.append(code)


def _leave() -> None:
    """End the process at once. All threads and other exit functions have ended, and the system frees the memory."""
    if _codes:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_codes[0])


class Annotation:
    """A placeholder for the array type in numpy's annotations."""

    __class_getitem__ = classmethod(GenericAlias)  # type: ignore[var-annotated]  # as the standard library does it


def cleandoc(text: str) -> str:
    """Return what ``inspect.cleandoc`` returns, for the help texts of numpy and click while they are imported."""
    lines = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.lstrip()), default=0)
    lines = [lines[0].lstrip(), *(line[margin:] for line in lines[1:])]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)


def signature(function: Callable[..., object], **options: Any) -> Any:
    """Return what ``inspect.signature`` returns; None for functions that numpy inspects while it is imported."""
    if str(getattr(function, "__module__", "")).startswith(("numpy._core.", "numpy.lib._")):
        return None
    import inspect

    later.load(inspect)
    return inspect.signature(function, **options)


def quote_from_bytes(*arguments: Any, **options: Any) -> str:
    """Return what ``urllib.parse.quote_from_bytes`` returns; ``pathlib`` needs it for paths as URLs."""
    import urllib.parse

    later.load(urllib.parse)
    return urllib.parse.quote_from_bytes(*arguments, **options)


def gettext(message: str) -> str:
    """Return the message untranslated, until a catalogue of translations is chosen, which loads ``gettext``."""
    module = sys.modules["gettext"]
    return message if type(module) is later.DeferredModule else module.gettext(message)


def ngettext(one: str, many: str, count: int) -> str:
    """Return the message for a count, untranslated."""
    module = sys.modules["gettext"]
    if type(module) is later.DeferredModule:
        return one if count == 1 else many
    said: str = module.ngettext(one, many, count)
    return said


def _lent_by(module: str, name: str) -> Callable[..., Any]:
    """Return a placeholder for a function of a deferred module; its first call loads the module."""

    def function(*arguments: Any, **options: Any) -> Any:
        later.load(sys.modules[module])
        return getattr(sys.modules[module], name)(*arguments, **options)

    return function
