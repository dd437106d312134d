"""Stored plans: what a workflow will do or an update has done, and the deployment at the time of planning."""

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
"""The prefix of a plan's id; its number follows."""
MOST_WAITING = 50
"""The most unapplied plans kept for one deployment; beyond it the oldest is dropped."""
PLAN = "plan"
"""The parameter of an update: the number of the plan that it carries out."""


@frozen
class Aim:
    """The target of an update.

    ``blueprint`` with its ``inputs`` put in; these as they are stored, secrets sealed. ``uses``: the same field as in ``NewDeployment``.
    ``counts``: instance counts of nodes and groups that differ from the blueprint; None: unchanged.
    ``suffixes``: seed of new ids, so that the plan and the execution agree on them. ``changed_inputs``: names. ``former``:
    the state to return to after a failure, if requested. ``revision``: the resulting changes, where known; not stored.
    ``packages``: packages imported by the blueprint, used from the update on.
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
    """A plan in the store. Times in ms. ``execution``: number of the execution that carries it out, 0: none yet.

    ``base``: the deployment at the time of planning, in parts that can be compared. ``body``: the plan as JSON;
    ``text``: the plan as text for people.
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
        """Such as ``plan-7``."""
        return f"{PREFIX}{self.number}"


class PlanShelf(Protocol):
    """Storage of plans. Any process may write; every method is one transaction."""

    def add(self, new: StoredPlan) -> StoredPlan:
        """Store a plan under the next number.

        If more than ``MOST_WAITING`` plans wait, the oldest of them is deleted.
        """
        ...

    def find(self, number: int) -> StoredPlan | None:
        """One plan, None if there is none."""
        ...

    def all(self, deployment: int | None = None) -> Sequence[StoredPlan]:
        """The plans by number, without ``body``, ``text`` and ``aim``.

        Only those of ``deployment`` if it is given.
        """
        ...

    def of_execution(self, execution: int) -> StoredPlan | None:
        """The plan that an execution carries out; None if no plan of it is stored."""
        ...

    def apply(self, number: int, execution: int) -> bool:
        """Record the execution that carries a plan out; False if another execution does already."""
        ...

    def delete(self, number: int) -> bool:
        """Delete a plan that no execution carries out; False if there is no such plan."""
        ...
