"""The source from which an engine gets planners of workflows and declarations of operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from phaseline.calls.deployments.planner_driver import Planner
    from phaseline.model.blueprint.blueprint import Blueprint, Operation
    from phaseline.model.blueprint.operation_declaration import Declaration
    from phaseline.model.deployment.code_location import CodeLocation


class PlannerSource(Protocol):
    """A source of planners by workflow name, and of declarations of operations."""

    def planner(self, name: str, blueprint: Blueprint, code: CodeLocation) -> Planner | None:
        """Return the planner of the deployment's workflow with this name, or None. Raises: ``ProblemsError``."""
        ...

    def declare(self, operation: Operation, code: CodeLocation) -> Declaration:
        """Return the declaration of an operation without running its code."""
        ...
