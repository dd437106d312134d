"""Syntax trees of our files, of which several rules of this folder read the same."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def tree(file: Path) -> ast.Module:
    """The tree of a file; each file is parsed once. No rule changes a tree."""
    was_on = gc.isenabled()
    gc.disable()  # the collector of garbage finds nothing in trees and takes half of the time
    try:
        return ast.parse(file.read_text("utf-8"))
    finally:
        if was_on:
            gc.enable()
