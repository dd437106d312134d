"""Protocol of the catalog, which finds and loads the code of plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.model.blueprint.operation_declaration import Declaration
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.execution.pre_post import PinnedHookClass
    from phaseline.model.phases.definitions import PhaseCode


class Catalog(Protocol):
    """Finds and loads plugin code. ``declare`` only reads source text; the ``load`` methods import the code."""

    def declare(self, implementation: str, code: CodeLocation) -> Declaration | None:
        """Return how the function ``module.function`` asks to be called; None if its source cannot be found."""
        ...

    def load(self, implementation: str, code: CodeLocation) -> Callable[..., object]:
        """Import and return the function ``module.function``.

        Raises ``ImportError``, ``AttributeError`` or whatever the import raised.
        """
        ...

    def load_hook(self, hook: PinnedHookClass) -> Callable[[], object]:
        """Return the factory that makes the object of a hook class. Raises the errors of ``load``."""
        ...

    def load_phase(self, code: PhaseCode) -> Callable[..., object]:
        """Return the current function of a phase. Raises the errors of ``load``."""
        ...
