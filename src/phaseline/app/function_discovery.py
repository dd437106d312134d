"""Discovery of other vendors' functions: intrinsic functions for blueprints (B40), and operations in source files."""

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
    """Offer the intrinsic functions of installed distributions to blueprints.

    ``before_code`` is called before modules are imported. Distributions are searched only when a blueprint has a name
    that may be such a function.
    """
    ANNOUNCED.look_in(_finder(before_code))


@cache
def _finder(before_code: Callable[[], None]) -> Callable[[], FunctionFinder]:
    """Return a finder of functions. Equal arguments give the same finder, so that found functions stay cached."""
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
    """Return how the function of an operation asks to be called.

    If its source is not found, return the way in which Cloudify calls it.
    """
    found = catalog.declare(operation.implementation, code)
    if found is None:
        from phaseline.model.blueprint.operation_declaration import Declaration

        return Declaration(flavour="cloudify")
    return found
