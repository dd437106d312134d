"""What keeps a short command short: nothing is loaded that it does not do, and nobody searches for garbage.

All of it is measured in docs/benchmarks.md and argued for in docs/adr/0020. What a user has set himself stays as it is.
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
"""Objects made until Python looks for garbage: importing makes fewer, and what it makes stays."""
OPENBLAS = "OPENBLAS_NUM_THREADS"
THREADS = (OPENBLAS, "OMP_NUM_THREADS", "GOTO_NUM_THREADS")
"""Variables that numpy's linear algebra reads while it is loaded; it starts as many threads as there are processors."""
DOCUMENTATION = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")
"""Nothing but the texts of numpy's help: left out, numpy is as Python's option ``-OO`` makes it."""
ANNOTATIONS = "numpy._typing"
"""What numpy annotates with: a quarter of the time it takes to load, for a word in five of its annotations."""
LINEAR_ALGEBRA = "numpy.linalg"
"""Of which numpy takes four functions while it is loaded, for its matrices and polynomials."""
SELDOM = (
    "ast", "ctypes", "fnmatch", "ntpath", "pickle", "shlex", "textwrap", "traceback", "uuid",
    "numpy.lib.mixins", "numpy.lib.scimath",
)  # fmt: skip
"""Modules of Python and numpy that click, numpy and we import for corners which most commands do not turn."""

_lent: list[str] = []
_codes: list[int] = []


def begin() -> None:
    """As the first thing a command does, before anything loads numpy."""
    gc.set_threshold(MADE_BETWEEN_LOOKS)
    own_modules.find_directly()
    if not atexit._ncallbacks():  # noqa: SLF001 - else somebody was here before us, who would be called after us
        atexit.register(_leave)
    for name in DOCUMENTATION:
        sys.modules.setdefault(name, ModuleType(name))
    for name in SELDOM:
        later.put_off(name)
    later.put_off("inspect", {"cleandoc": cleandoc, "signature": signature})
    later.put_off("platform", {"system": lambda: os.uname().sysname})
    later.put_off("urllib.parse", {"quote_from_bytes": quote_from_bytes})
    later.put_off("gettext", {"gettext": gettext, "ngettext": ngettext})
    later.put_off(ANNOTATIONS, {"NDArray": Annotation})
    taken = ("eigvals", "inv", "lstsq", "matrix_power")
    later.put_off(LINEAR_ALGEBRA, {name: _lent_by(LINEAR_ALGEBRA, name) for name in taken})
    if not any(name in os.environ for name in THREADS):
        os.environ[OPENBLAS] = "1"
        _lent.append(OPENBLAS)


def load_click() -> None:
    """Load click, which has a type named after ``uuid.UUID``: to declare that, the module need not be loaded."""
    uuid = sys.modules.get("uuid")
    if isinstance(uuid, later.DeferredModule):
        vars(uuid)["UUID"] = Annotation
    import click  # noqa: F401

    if uuid is not None and vars(uuid).get("UUID") is Annotation:
        del vars(uuid)["UUID"]


def load() -> None:
    """Load numpy and take back what was said in the environment: programs that are started later shall not read it."""
    import numpy as np

    later.bind(np, ANNOTATIONS)
    later.bind(np, LINEAR_ALGEBRA)
    while _lent:
        del os.environ[_lent.pop()]


def end(code: int) -> None:
    """As the last thing: the process is going to end with this code, and whoever waits for that is waited for."""
    gc.freeze()
    _codes.append(code)


def _leave() -> None:
    """End here: all threads have ended and all others have been called, and the operating system takes everything back."""
    if _codes:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_codes[0])


class Annotation:
    """Stands where numpy annotates an array."""

    __class_getitem__ = classmethod(GenericAlias)  # type: ignore[var-annotated]  # as the standard library does it


def cleandoc(text: str) -> str:
    """What ``inspect.cleandoc`` makes of a help text: numpy and click send theirs there while they are imported."""
    lines = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.lstrip()), default=0)
    lines = [lines[0].lstrip(), *(line[margin:] for line in lines[1:])]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)


def signature(function: Callable[..., object], **options: Any) -> Any:
    """What ``inspect.signature`` says, but nothing of the functions for which numpy asks while it is imported, for its help."""
    if str(getattr(function, "__module__", "")).startswith(("numpy._core.", "numpy.lib._")):
        return None
    import inspect

    later.load(inspect)
    return inspect.signature(function, **options)


def quote_from_bytes(*arguments: Any, **options: Any) -> str:
    """As ``urllib.parse`` has it; ``pathlib`` needs it for paths as URLs."""
    import urllib.parse

    later.load(urllib.parse)
    return urllib.parse.quote_from_bytes(*arguments, **options)


def gettext(message: str) -> str:
    """As the module of that name has it: nothing is translated until somebody has named a catalogue, which loads it."""
    module = sys.modules["gettext"]
    return message if type(module) is later.DeferredModule else module.gettext(message)


def ngettext(one: str, many: str, count: int) -> str:
    """The same for what is counted."""
    module = sys.modules["gettext"]
    if type(module) is later.DeferredModule:
        return one if count == 1 else many
    said: str = module.ngettext(one, many, count)
    return said


def _lent_by(module: str, name: str) -> Callable[..., Any]:
    """Stands for a function of a module that waits: the first call loads it."""

    def function(*arguments: Any, **options: Any) -> Any:
        later.load(sys.modules[module])
        return getattr(sys.modules[module], name)(*arguments, **options)

    return function
