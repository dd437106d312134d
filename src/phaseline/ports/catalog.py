"""The code of plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.model.blueprint.operation_declaration import Declaration
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.execution.pre_post import PinnedHookClass
    from phaseline.model.phases.definitions import PhaseCode


class Catalog(Protocol):
    """Finds plugin code. ``declare`` reads source text and runs nothing."""

    def declare(self, implementation: str, code: CodeLocation) -> Declaration | None:
        """The declaration of the function ``module.function``; None if its source cannot be found."""
        ...

    def load(self, implementation: str, code: CodeLocation) -> Callable[..., object]:
        """The function itself, imported. Raises ``ImportError``, ``AttributeError`` or what the import raised."""
        ...

    def load_hook(self, hook: PinnedHookClass) -> Callable[[], object]:
        """The factory of the object of a hook class; raises as ``load``."""
        ...

    def load_phase(self, code: PhaseCode) -> Callable[..., object]:
        """The current function of a phase; raises as ``load``."""
        ...
