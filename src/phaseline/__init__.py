"""Phaseline: a lifecycle orchestrator for applications and infrastructure.

Public here is what plugins need, and ``open`` for programs that do what the command line does; nothing heavy is imported.
"""

from phaseline.model.declaration import operation
from phaseline.model.failures import NonRecoverableError, RecoverableError
from phaseline.model.problem import Place, Problem, ProblemsError
from phaseline.use_cases.facade import Phaseline
from phaseline.use_cases.facade import open_phaseline as open  # noqa: A004 - read as phaseline.open

__version__ = "0.1.0"

__all__ = [
    "NonRecoverableError",
    "Phaseline",
    "Place",
    "Problem",
    "ProblemsError",
    "RecoverableError",
    "__version__",
    "open",
    "operation",
]
