"""The location of a phase's function: all that is needed to call it."""

from __future__ import annotations

from typing import Literal

from phaseline.lang.fast_dataclasses import frozen


@frozen
class PhaseCode:
    """The location of a plugin's function: ``function`` of ``module``, searched in ``folders``, then in installed packages.

    ``file`` is the module's source, empty if unknown. ``form`` ``handle`` means that the function is called with all
    ready resources, ``handle_one`` that it is called for each. ``is_async`` is False if it is not known whether the
    function is a coroutine, because the module only imports it.
    """

    module: str
    function: str
    folders: tuple[str, ...] = ()
    file: str = ""
    form: Literal["handle", "handle_one"] = "handle"
    is_async: bool = False

    def __str__(self) -> str:
        """Return ``module:function``."""
        return f"{self.module}:{self.function}"
