"""Discovery of third-party functions: those of installed distributions in blueprints (B40), operations in their sources."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from phaseline.dsl.functions.third_party import ANNOUNCED

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from phaseline.dsl.functions.third_party import AnnouncedFunction, FunctionFinder
    from phaseline.model.blueprint.blueprint import Operation
    from phaseline.model.blueprint.operation_declaration import Declaration
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.ports.catalog import Catalog


def offer_functions(before_code: Callable[[], None]) -> None:
    """Offer them to blueprints; the search starts when a name may be one of them. ``before_code``: called before imports."""
    ANNOUNCED.look_in(_finder(before_code))


@cache
def _finder(before_code: Callable[[], None]) -> Callable[[], FunctionFinder]:
    """The same for the same: what was found stays known."""
    return partial(_installed, before_code)


def _installed(before_code: Callable[[], None]) -> FunctionFinder:
    from phaseline.catalog.code.function_entry_points import InstalledFunctions

    return InstalledFunctions(_adapted, before_code)


def _adapted(
    name: str, make: Callable[..., object], guarded: Callable[[str, str], AbstractContextManager[None]]
) -> AnnouncedFunction:
    from phaseline.compat.cloudify.dsl_functions import AncestorFunction

    return AncestorFunction(name, make, guarded)


def declared(catalog: Catalog, operation: Operation, code: CodeLocation) -> Declaration:
    """The declaration of an operation; one whose source is not found is called as the ancestor would call it."""
    found = catalog.declare(operation.implementation, code)
    if found is None:
        from phaseline.model.blueprint.operation_declaration import Declaration

        return Declaration(flavour="cloudify")
    return found
