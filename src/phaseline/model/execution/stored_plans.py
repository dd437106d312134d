"""Stored plans: what a workflow will do, or what an update has done, with the deployment at the time of planning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.execution.execution import Request
    from phaseline.model.packages.installed import PackageUse

PREFIX = "plan-"
"""Prefix of a plan's id; the plan's number follows."""
MOST_WAITING = 50
"""Most plans of one deployment that are kept without being carried out; beyond it the oldest is deleted."""
PLAN = "plan"
"""Name of the parameter of an update that has the number of the plan to carry out."""


@frozen
class Aim:
    """The target of an update: another blueprint with its inputs and code.

    ``blueprint`` has its ``inputs`` applied; ``inputs`` are as stored, with secrets encrypted. ``uses`` is {namespace:
    number} of stored blueprints. ``counts`` are the numbers of instances that differ from the blueprint (None:
    unchanged). ``suffixes`` is the seed of new ids, so that plan and execution use the same ids. ``changed_inputs`` are
    names. ``former`` is the state to return to after a failure, if requested. ``revision`` has the resulting changes if
    known; it is not stored. ``packages`` are imported by the blueprint and used from the update on.
    """

    blueprint: Blueprint
    inputs: Mapping[str, Value]
    code: CodeLocation
    suffixes: int
    changed_inputs: tuple[str, ...] = ()
    uses: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] | None = None
    former: Aim | None = None
    revision: object = None
    packages: tuple[PackageUse, ...] = ()


@frozen
class StoredPlan:
    """A plan in the store. Times are in ms. ``execution`` is the number of the execution that carries it out (0: none yet).

    ``base`` is the deployment at the time of planning, in parts that can be compared with the present. ``body`` is the
    plan as JSON, ``text`` the plan as text for people.
    """

    number: int
    deployment: int
    request: Request
    created_at: int
    created_by: str
    base: Mapping[str, Value]
    body: Mapping[str, Value]
    text: str
    aim: Aim | None = None
    execution: int = 0

    @property
    def id(self) -> str:
        """The id that users see, such as ``plan-7``."""
        return f"{PREFIX}{self.number}"


class PlanShelf(Protocol):
    """Storage of plans. Any process may write; every method is one transaction."""

    def add(self, new: StoredPlan) -> StoredPlan:
        """Store a plan under the next number.

        If more than ``MOST_WAITING`` plans wait, the oldest of them is deleted.
        """
        ...

    def find(self, number: int) -> StoredPlan | None:
        """Return the plan with this number, or None if there is none."""
        ...

    def all(self, deployment: int | None = None) -> Sequence[StoredPlan]:
        """Return the plans by number, without ``body``, ``text`` and ``aim``; only those of ``deployment`` if it is given."""
        ...

    def of_execution(self, execution: int) -> StoredPlan | None:
        """Return the plan that an execution carries out, or None if it carries out no stored plan."""
        ...

    def apply(self, number: int, execution: int) -> bool:
        """Record that an execution carries out a plan. Return False if another execution already does."""
        ...

    def delete(self, number: int) -> bool:
        """Delete a plan that no execution carries out. Return False if there is no such plan."""
        ...
