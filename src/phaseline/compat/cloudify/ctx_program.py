"""Writes the program ``ctx`` into a folder that is appended to the PATH of scripts (rule S3)."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "program"
MAX_FIRST_LINE = 120
"""Largest length of a script's first line (``#!``) that every operating system reads completely."""


def write_program(folder: Path) -> Path:
    """Write ``ctx`` and ``ctx-sh`` into the folder and return it.

    ``ctx`` is run by the current Python interpreter, which need not be on PATH.
    """
    if not (folder / "ctx").exists():
        (folder / "ctx-sh").write_bytes((SOURCE / "ctx-sh").read_bytes())
        _write_executable(folder / "ctx", (SOURCE / "ctx").read_text("utf-8"), sys.executable)
    return folder


def _write_executable(path: Path, source: str, interpreter: str) -> None:
    """Write ``ctx`` with a first line that runs it by this interpreter.

    With the options ``-I -S``, Python ignores the user's environment and installed packages, and starts fast.
    """
    first_line = f"#!{interpreter} -IS\n"
    if len(first_line) <= MAX_FIRST_LINE and " " not in interpreter:
        text = first_line + source
    else:
        code = path.with_name("ctx.py")
        code.write_text(source, "utf-8")
        text = f'#!/bin/sh\nexec {shlex.quote(interpreter)} -I -S {shlex.quote(str(code))} "$@"\n'
    draft = path.with_name("ctx.new")
    draft.write_text(text, "utf-8")
    draft.chmod(0o755)
    draft.replace(path)
