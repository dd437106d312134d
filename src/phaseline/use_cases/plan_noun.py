"""Kept plans for Python programs: a noun of ``phaseline.open()``, made like those beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.use_cases.arguments import checked

if TYPE_CHECKING:
    from phaseline.model.blueprint import Value
    from phaseline.use_cases.installing import Manner
    from phaseline.use_cases.plans import Planned
    from phaseline.use_cases.stored_plans import PlanDetails, PlanView
    from phaseline.use_cases.values import ExecutionView
    from phaseline.use_cases.watching import Watcher
    from phaseline.use_cases.workplace import Workplace


@checked("plans")
class Plans:
    """What would be done, kept to be read and then carried out as it was read."""

    def __init__(self, place: Workplace) -> None:
        """Of the store of this place."""
        self._place = place

    def make(
        self,
        workflow: str,
        deployment: str,
        *,
        parameters: Mapping[str, Value] | None = None,
        breakpoints: Sequence[str] = (),
        save: bool = False,
    ) -> Planned:
        """What a workflow of a deployment would do now; ``save``: it is kept. ``breakpoints``: where instances stop."""
        from phaseline.use_cases.plans import plan_workflow
        from phaseline.use_cases.workflows import Start

        order = Start(workflow, deployment, parameters or {})
        return plan_workflow(self._place, order, save=save, manner=_stopping(breakpoints))

    def update(
        self,
        deployment: str,
        file: str,
        *,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] | None = None,
        parameters: Mapping[str, Value] | None = None,
        breakpoints: Sequence[str] = (),
        save: bool = False,
    ) -> Planned:
        """What an update to a blueprint would do now; ``save``: it is kept. Otherwise as ``deployments.update``."""
        from phaseline.use_cases.prepared_updates import UpdateOrder
        from phaseline.use_cases.updating import plan_update

        order = UpdateOrder(deployment, file, inputs or {}, plugins, parameters or {})
        return plan_update(self._place, order, save=save, manner=_stopping(breakpoints))

    def list(self, deployment: str | None = None) -> Sequence[PlanView]:
        """Kept plans, the latest first, each with whether it can still be applied."""
        from phaseline.use_cases.stored_plans import list_plans

        return list_plans(self._place, deployment)

    def show(self, id: str) -> PlanDetails:
        """One of them, by its id or by that of the execution that carries it out."""
        from phaseline.use_cases.stored_plans import show_plan

        return show_plan(self._place, id)

    def apply(self, id: str, *, watcher: Watcher | None = None, detach: bool = False) -> ExecutionView:
        """Carry one out; refused with what has moved if the deployment is not what it was."""
        from phaseline.use_cases.stored_plans import apply_plan

        return apply_plan(self._place, id, watcher=watcher, detach=detach)

    def delete(self, id: str) -> PlanView:
        """Forget one that was not applied."""
        from phaseline.use_cases.stored_plans import delete_plan

        return delete_plan(self._place, id)


def _stopping(breakpoints: Sequence[str]) -> Manner:
    from phaseline.use_cases.breakpoints import read
    from phaseline.use_cases.installing import Manner

    return Manner(breakpoints=tuple(map(read, breakpoints)))
