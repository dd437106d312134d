"""Phaseline: a lifecycle orchestrator for applications and infrastructure.

Public here is what plugins need, and ``open`` for programs that do what the command line does. A name's module is
imported when the name is used for the first time, so that a command pays only for what it needs.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.compat.cyclecloud.misuse import NotInRun, RunFinished
    from phaseline.hooks.lifecycle_hook import LifecycleHook
    from phaseline.hooks.views import ReadOnlyError, thaw
    from phaseline.model.declaration import operation
    from phaseline.model.failures import NonRecoverableError, PermanentError, RecoverableError, TemporaryError
    from phaseline.model.phase_mark import phase
    from phaseline.model.problem import Place, Problem, ProblemsError
    from phaseline.records.conversions import AttributeTypeError
    from phaseline.records.expression import Expression
    from phaseline.records.record import Record
    from phaseline.use_cases.facade import Phaseline
    from phaseline.use_cases.facade import open_phaseline as open  # noqa: A004 - read as phaseline.open

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
    "NonRecoverableError": "model.failures:NonRecoverableError",
    "NotInRun": "compat.cyclecloud.misuse:NotInRun",
    "PermanentError": "model.failures:PermanentError",
    "Phaseline": "use_cases.facade:Phaseline",
    "Place": "model.problem:Place",
    "Problem": "model.problem:Problem",
    "ProblemsError": "model.problem:ProblemsError",
    "ReadOnlyError": "hooks.views:ReadOnlyError",
    "Record": "records.record:Record",
    "RecoverableError": "model.failures:RecoverableError",
    "RunFinished": "compat.cyclecloud.misuse:RunFinished",
    "TemporaryError": "model.failures:TemporaryError",
    "open": "use_cases.facade:open_phaseline",
    "operation": "model.declaration:operation",
    "phase": "model.phase_mark:phase",
    "thaw": "hooks.views:thaw",
}
"""{public name: module and name in it}; the imports above say the same to type checkers."""


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
