"""Where an engine finds the planner of a workflow and the declaration of an operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from phaseline.calls.deployments.planner_driver import Planner
    from phaseline.model.blueprint.blueprint import Blueprint, Operation
    from phaseline.model.blueprint.operation_declaration import Declaration
    from phaseline.model.deployment.code_location import CodeLocation


class PlannerSource(Protocol):
    """Planners by the names of workflows, and declarations of operations."""

    def planner(self, name: str, blueprint: Blueprint, code: CodeLocation) -> Planner | None:
        """The planner that a name means for a deployment; None: no workflow has the name. Raises: ``ProblemsError``."""
        ...

    def declare(self, operation: Operation, code: CodeLocation) -> Declaration:
        """The declaration of an operation, without running its code."""
        ...
