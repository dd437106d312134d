"""The location of a phase's function: all that is needed to call it."""

from __future__ import annotations

from typing import Literal

from phaseline.lang.fast_dataclasses import frozen


@frozen
class PhaseCode:
    """Where a plugin's function is: ``function`` of ``module``, looked for in ``folders``, then among what is installed.

    ``file`` is the module's source, empty where it is not known. ``form`` ``handle``: called with all resources that are
    ready; ``handle_one``: called for each. Of a function that is only passed on by its module it is not known whether
    it is a coroutine; then ``is_async`` is false.
    """

    module: str
    function: str
    folders: tuple[str, ...] = ()
    file: str = ""
    form: Literal["handle", "handle_one"] = "handle"
    is_async: bool = False

    def __str__(self) -> str:
        """``module:function``."""
        return f"{self.module}:{self.function}"
