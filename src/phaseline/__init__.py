"""Phaseline: a lifecycle orchestrator for applications and infrastructure.

Public here is what plugins need, and ``open`` for programs that do what the command line does. A name's module is
imported when the name is used for the first time, so that a command pays only for what it needs.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.client.client import Client as Phaseline
    from phaseline.client.open import open_phaseline as open  # noqa: A004 - read as phaseline.open
    from phaseline.compat.cyclecloud.handler_misuse import NotInRun, RunFinished
    from phaseline.hooks.lifecycle_hook import LifecycleHook
    from phaseline.hooks.read_only_views import ReadOnlyError, thaw
    from phaseline.model.blueprint.operation_declaration import operation
    from phaseline.model.graph.plugin_errors import (
        NonRecoverableError,
        PermanentError,
        RecoverableError,
        TemporaryError,
    )
    from phaseline.model.phases.decorator import phase
    from phaseline.model.problems.problem import Place, Problem, ProblemsError
    from phaseline.records.conversions import AttributeTypeError
    from phaseline.records.expression import Expression
    from phaseline.records.record import Record

__version__ = "0.1.0"

__all__ = [
    "AttributeTypeError",
    "Expression",
    "LifecycleHook",
    "NonRecoverableError",
    "NotInRun",
    "PermanentError",
    "Phaseline",
    "Place",
    "Problem",
    "ProblemsError",
    "ReadOnlyError",
    "Record",
    "RecoverableError",
    "RunFinished",
    "TemporaryError",
    "__version__",
    "open",
    "operation",
    "phase",
    "thaw",
]

_HOMES = {
    "AttributeTypeError": "records.conversions:AttributeTypeError",
    "Expression": "records.expression:Expression",
    "LifecycleHook": "hooks.lifecycle_hook:LifecycleHook",
    "NonRecoverableError": "model.graph.plugin_errors:NonRecoverableError",
    "NotInRun": "compat.cyclecloud.handler_misuse:NotInRun",
    "PermanentError": "model.graph.plugin_errors:PermanentError",
    "Phaseline": "client.client:Client",
    "Place": "model.problems.problem:Place",
    "Problem": "model.problems.problem:Problem",
    "ProblemsError": "model.problems.problem:ProblemsError",
    "ReadOnlyError": "hooks.read_only_views:ReadOnlyError",
    "Record": "records.record:Record",
    "RecoverableError": "model.graph.plugin_errors:RecoverableError",
    "RunFinished": "compat.cyclecloud.handler_misuse:RunFinished",
    "TemporaryError": "model.graph.plugin_errors:TemporaryError",
    "open": "client.open:open_phaseline",
    "operation": "model.blueprint.operation_declaration:operation",
    "phase": "model.phases.decorator:phase",
    "thaw": "hooks.read_only_views:thaw",
}
"""{public name: module and name in it}; the imports above are the same for type checkers."""


def __getattr__(name: str) -> object:
    """The public name, imported now (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'phaseline' has no attribute {name!r}")
    from importlib import import_module

    module, _, own = _HOMES[name].partition(":")
    value: object = getattr(import_module(f"phaseline.{module}"), own)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
