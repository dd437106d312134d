"""What of a list cannot be read: it is told by name with its reason, and hides nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.calls.deployments import unreadable_execution
from phaseline.model.problems.problem import ProblemsError

if TYPE_CHECKING:
    from types import TracebackType

NOT_READ = (ValueError, LookupError, TypeError, AttributeError, ProblemsError)
"""What reading a damaged value raises."""


class Flaws:
    """Sentences about what was left out of a list."""

    def __init__(self) -> None:
        """Everything was read so far."""
        self.told: list[str] = []
        self.reasons: list[str] = []

    def add(self, name: str, why: str) -> None:
        """This deployment could not be read."""
        self.reasons.append(why)
        self.told.append(f"'{name}' cannot be read: {why}. Remove it: phaseline deployments delete {name} --force")

    def of(self, name: str) -> _Guard:
        """A context that leaves out what cannot be read of this deployment; what is wrong with the whole store is raised."""
        return _Guard(self, name)


class _Guard:
    __slots__ = ("_flaws", "_name")

    def __init__(self, flaws: Flaws, name: str) -> None:
        self._flaws, self._name = flaws, name

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, NOT_READ):
            return False

        if not unreadable_execution.is_alone(error):
            return False
        self._flaws.add(self._name, unreadable_execution.reason_of(error))
        return True
