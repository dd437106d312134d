"""Kept plans for Python programs: a noun of ``phaseline.open()``, made like those beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.client.argument_checks import checked
from phaseline.client.execution_options import manner_of, update_of

if TYPE_CHECKING:
    from phaseline.app.app_context import Workplace
    from phaseline.app.watcher import Watcher
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.commands.apply_plan import PlanDetails, PlanView
    from phaseline.use_cases.prepare.plan_preview import Planned
    from phaseline.views.views import ExecutionView


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
        allow_custom_parameters: bool = False,
        force: bool = False,
        breakpoints: Sequence[str] = (),
        break_timeout: str | None = None,
        save: bool = False,
    ) -> Planned:
        """What a workflow of a deployment would do now; ``save``: it is kept. The other words as of ``executions.start``."""
        from phaseline.use_cases.commands.keep_plan import plan_workflow
        from phaseline.use_cases.prepare.workflow_start import Start

        order = Start(workflow, deployment, parameters or {}, allow_custom_parameters, force)
        manner = manner_of(breakpoints=breakpoints, break_timeout=break_timeout)
        return plan_workflow(self._place, order, save=save, manner=manner)

    def update(
        self,
        deployment: str,
        file: str,
        *,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] | None = None,
        parameters: Mapping[str, Value] | None = None,
        runtime_only_evaluation: bool = False,
        workflow_id: str | None = None,
        reinstall: Sequence[str] = (),
        allow_replace: bool = False,
        skip_uninstall: bool = False,
        skip_install: bool = False,
        skip_drift_check: bool = False,
        skip_heal: bool = False,
        skip_reinstall: bool = False,
        force_reinstall: bool = False,
        ignore_failure: bool = False,
        auto_correct_types: bool = False,
        breakpoints: Sequence[str] = (),
        break_timeout: str | None = None,
        save: bool = False,
    ) -> Planned:
        """What an update to a blueprint would do now; ``save``: it is kept. Otherwise as ``deployments.update``."""
        from phaseline.use_cases.commands.update import plan_update

        order = update_of(
            deployment,
            file,
            inputs,
            plugins,
            parameters,
            runtime_only=runtime_only_evaluation,
            workflow_id=workflow_id,
            reinstall=reinstall,
            allow_replace=allow_replace,
            skip_uninstall=skip_uninstall,
            skip_install=skip_install,
            skip_drift_check=skip_drift_check,
            skip_heal=skip_heal,
            skip_reinstall=skip_reinstall,
            force_reinstall=force_reinstall,
            ignore_failure=ignore_failure,
            auto_correct_types=auto_correct_types,
        )
        manner = manner_of(breakpoints=breakpoints, break_timeout=break_timeout)
        return plan_update(self._place, order, save=save, manner=manner)

    def list(self, deployment: str | None = None) -> Sequence[PlanView]:
        """Kept plans, the latest first, each with whether it can still be applied."""
        from phaseline.use_cases.commands.apply_plan import list_plans

        return list_plans(self._place, deployment)

    def show(self, id: str) -> PlanDetails:
        """One of them, by its id or by that of the execution that carries it out."""
        from phaseline.use_cases.commands.apply_plan import show_plan

        return show_plan(self._place, id)

    def apply(self, id: str, *, watcher: Watcher | None = None, detach: bool = False) -> ExecutionView:
        """Carry one out; refused with what has moved if the deployment is not what it was."""
        from phaseline.use_cases.commands.apply_plan import apply_plan

        return apply_plan(self._place, id, watcher=watcher, detach=detach)

    def delete(self, id: str) -> PlanView:
        """Forget one that was not applied."""
        from phaseline.use_cases.commands.apply_plan import delete_plan

        return delete_plan(self._place, id)
