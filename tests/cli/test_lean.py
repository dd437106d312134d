"""Short commands."""

import os
import subprocess
import sys

PROGRAM = """
import os, sys
from phaseline.cli import lean
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


def test_numpy_works_without_its_help() -> None:
    code = """
import sys
from phaseline.cli import lean
lean.begin()
import phaseline.use_cases.installing  # commands import what they do before they open anything
import numpy.ma, numpy.testing
print(numpy.arange(3).sum(), hasattr(sys.modules["numpy._core._add_newdocs"], "add_newdoc"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "3 False\n"
