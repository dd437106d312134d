"""Syntax trees of our files, of which several rules of this folder read the same.

What is computed of them is ``kept`` while rules are checked. For the tests that follow, trees were millions of objects
to look through, so the folder's fixture has them forgotten.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
_KEPT: list[Any] = []


def kept(function: Function) -> Function:
    """As ``functools.cache``, until ``forget``."""
    _KEPT.append(cache(function))
    return _KEPT[-1]  # type: ignore[no-any-return]  # called as the function is


def forget() -> None:
    for one in _KEPT:
        one.cache_clear()


@kept
def tree(file: Path) -> ast.Module:
    """The tree of a file; each file is parsed once. No rule changes a tree."""
    was_on = gc.isenabled()
    gc.disable()  # the collector of garbage finds nothing in trees and takes half of the time
    try:
        return ast.parse(file.read_text("utf-8"))
    finally:
        if was_on:
            gc.enable()
