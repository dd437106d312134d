"""Short commands."""

import inspect
import os
import struct
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from phaseline.cli.startup import fast_start as lean

PROGRAM = """
import os, sys
from phaseline.cli.startup import fast_start as lean
lean.begin()
told = os.environ.get("OPENBLAS_NUM_THREADS")
lean.load()
print(told, os.environ.get("OPENBLAS_NUM_THREADS"), "numpy" in sys.modules)
"""


def _said(**more: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=clean | more, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_numpy_is_loaded_with_one_thread_and_nobody_inherits_that() -> None:
    assert _said() == "1 None True"


def test_threads_that_a_user_wants_are_kept() -> None:
    assert _said(OPENBLAS_NUM_THREADS="3") == "3 3 True"
    assert _said(OMP_NUM_THREADS="2") == "None None True"


WHOLE = """
import sys
from phaseline.cli.startup import fast_start as lean
lean.begin()
import phaseline.use_cases.commands.install  # commands import what they do before they open anything
from phaseline.cli.startup.deferred_modules import DeferredModule
lean.load()
waits = [name for name in sys.modules if type(sys.modules[name]) is DeferredModule]
from inspect import signature
import inspect, pathlib, pickle, platform, urllib.parse
import numpy, numpy.ma, numpy.testing, numpy._typing
from numpy.typing import NDArray
print(sorted(waits))
print(numpy.arange(3).sum(), hasattr(sys.modules["numpy._core._add_newdocs"], "add_newdoc"))
print(signature(lambda one, *, two=2: 0), inspect.signature(print, follow_wrapped=False))
print(platform.system() == platform.uname().system, pathlib.Path("/a b").as_uri(), urllib.parse.quote("a b"))
print(NDArray[numpy.int64] == numpy._typing.NDArray[numpy.int64], numpy.linalg.eig(numpy.eye(2)).eigenvalues)
print(numpy.roots([1, 2, 1]), (numpy.matrix([[1, 1], [0, 1]]) ** 2).tolist(), numpy.emath.sqrt(-1), numpy.lib.mixins.NDArrayOperatorsMixin.__name__)
print(pickle.loads(pickle.dumps(numpy.arange(2))), inspect.cleandoc(inspect.cleandoc.__doc__)[:5], type(inspect) is DeferredModule)
"""


def test_numpy_and_pythons_own_modules_work_without_what_was_put_off() -> None:
    done = subprocess.run([sys.executable, "-c", WHOLE], capture_output=True, text=True, check=True)
    waits, *said = done.stdout.splitlines()
    loaded = {"traceback", "fnmatch"} if sys.version_info[:2] == (3, 12) else {"traceback"}  # 3.12's pathlib uses it
    assert set(lean.SELDOM) - loaded <= set(eval(waits))
    assert {"inspect", "platform", "urllib.parse", "numpy._typing", "numpy.linalg", "gettext"} <= set(eval(waits))
    assert said == [
        "3 False",
        "(one, *, two=2) (*args, sep=' ', end='\\n', file=None, flush=False)",
        "True file:///a%20b a%20b",
        "True [1. 1.]",
        "[-1. -1.] [[1, 2], [0, 1]] 1j NDArrayOperatorsMixin",
        "[0 1] Clean False",
    ]


NAMED_AFTER = """
import sys
from phaseline.cli.startup import fast_start as lean
lean.begin()
lean.load_click()
from phaseline.cli.startup.deferred_modules import DeferredModule
import click, uuid
print(type(uuid) is DeferredModule, "UUID" in vars(uuid))
one = uuid.uuid4()
print(click.UUID.convert(str(one), None, None) == one == click.UUID.convert(one, None, None), type(one) is uuid.UUID)
"""


def test_click_knows_the_type_whose_module_waits() -> None:
    done = subprocess.run([sys.executable, "-c", NAMED_AFTER], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "True", "True"]


TRANSLATED = """
import sys
from phaseline.cli.startup import fast_start as lean
lean.begin()
from gettext import gettext, ngettext
from phaseline.cli.startup.deferred_modules import DeferredModule
print(gettext("one"), ngettext("one", "many", 1), ngettext("one", "many", 2), type(sys.modules["gettext"]) is DeferredModule)
import gettext as module
module.bindtextdomain("messages", sys.argv[1])
print(gettext("one"), ngettext("one", "many", 1), ngettext("one", "many", 2), module.gettext("one"))
"""


def test_texts_are_translated_as_soon_as_somebody_names_a_catalogue(tmp_path: Path) -> None:
    folder = tmp_path / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "messages.mo").write_bytes(_catalogue({"": "Content-Type: text/plain; charset=UTF-8\n", "one": "eins"}))
    environment = os.environ | {"LANGUAGE": "de"}
    done = subprocess.run(
        [sys.executable, "-c", TRANSLATED, str(tmp_path)], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.splitlines() == ["one one many True", "eins one many eins"]


def _catalogue(texts: dict[str, str]) -> bytes:
    """A file as ``gettext`` reads it."""
    words = [[word.encode() for word in pair] for pair in sorted(texts.items())]
    at = 28 + 16 * len(words)
    tables, body = [b"", b""], b""
    for side in (0, 1):
        for pair in words:
            tables[side] += struct.pack("<2I", len(pair[side]), at + len(body))
            body += pair[side] + b"\0"
    return struct.pack("<7I", 0x950412DE, 0, len(words), 28, 28 + 8 * len(words), 0, 0) + b"".join(tables) + body


def _texts() -> list[str]:
    modules: list[ModuleType] = [np, inspect, sys.modules["numpy.linalg"]]
    found = [getattr(one, "__doc__", None) for module in modules for one in vars(module).values()]
    return [text for text in found if isinstance(text, str)]


@pytest.mark.parametrize(
    "text", ["", "one", "  one  ", "\n\n  a\n    b\n\n", "a\n\n", "\tx\n\ty\n\t\tz", "a\n  b\n c", " \n "]
)
def test_help_texts_are_cleaned_as_python_cleans_them(text: str) -> None:
    assert lean.cleandoc(text) == inspect.cleandoc(text)


def test_so_are_those_of_numpy() -> None:
    texts = _texts()
    assert len(texts) > 500
    assert [text for text in texts if lean.cleandoc(text) != inspect.cleandoc(text)] == []


LEAVING = """
import atexit, sys, threading, time
{before}
from phaseline.cli.startup import fast_start as lean
lean.begin()
gate = threading.Event()
atexit.register(lambda: print("registered"))
threading.Thread(target=lambda: (gate.wait(), print("thread"))).start()
lean.end(7)
gate.set()
sys.exit(7)
"""


@pytest.mark.parametrize(
    ("before", "said"),
    [("", "thread registered "), ("atexit.register(lambda: print('first'))", "thread registered first ")],
)
def test_the_end_waits_for_threads_and_for_what_was_registered(before: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAVING.format(before=before)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.replace("\n", " ")) == (7, said)
