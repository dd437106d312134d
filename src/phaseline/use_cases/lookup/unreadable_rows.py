"""Leave out unreadable rows of a list: report each by name with its reason, and list all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.calls.deployments import unreadable_execution
from phaseline.model.problems.problem import ProblemsError

if TYPE_CHECKING:
    from types import TracebackType

NOT_READ = (ValueError, LookupError, TypeError, AttributeError, ProblemsError)
"""Exceptions that may be raised by reading a damaged value."""


class Flaws:
    """Collects sentences about rows that were left out of a list."""

    def __init__(self) -> None:
        """Start without any left-out row."""
        self.told: list[str] = []
        self.reasons: list[str] = []

    def add(self, name: str, why: str) -> None:
        """Record that this deployment could not be read."""
        self.reasons.append(why)
        self.told.append(f"'{name}' cannot be read: {why}; remove it: phaseline deployments delete {name} --force")

    def of(self, name: str) -> _Guard:
        """Return a context for reading one deployment's data: if the data is unreadable, it records this and ends the block.

        Problems of the store itself are raised.
        """
        return _Guard(self, name)


class _Guard:
    __slots__ = ("_flaws", "_name")

    def __init__(self, flaws: Flaws, name: str) -> None:
        self._flaws, self._name = flaws, name

    def __enter__(self) -> None:
        """Do nothing: the context acts only at its end."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, NOT_READ):
            return False

        if not unreadable_execution.is_alone(error):
            return False
        self._flaws.add(self._name, unreadable_execution.reason_of(error))
        return True
