"""Docstrings as Markdown for the pages of Python names: examples after ``>>>`` become blocks of code."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


class Examples(Extension):
    """Asked by the builders for each object that they read."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Rewrite its docstring."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    r"""The text of a docstring with its examples fenced.

    >>> as_markdown("Adds::\n\n    x\n\n>>> 1 + 1\n2\n\nMore.")
    'Adds:\n\n    x\n\n```pycon\n>>> 1 + 1\n2\n```\n\nMore.'
    """
    fenced = _EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
    return re.sub(r"::$", ":", fenced, flags=re.MULTILINE)
