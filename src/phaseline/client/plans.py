"""The methods ``client.plans``: previews of changes, which can be stored so that exactly what was reviewed is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun
from phaseline.client.execution_options import adoption_of, manner_of, start_of, update_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from phaseline.client.option_types import FollowOptionsDict, StopOptionsDict, UpdateAndRunOptionsDict
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.commands.apply_plan import PlanDetails, PlanView
    from phaseline.use_cases.prepare.plan_preview import PlanPreview
    from phaseline.views.views import ExecutionView


class PlansNoun(Noun):
    """Plans: previews of changes, which can be stored, reviewed, and then carried out exactly as reviewed."""

    def make(
        self,
        workflow: str,
        deployment: str,
        *,
        parameters: Mapping[str, Value] | None = None,
        allow_custom_parameters: bool = False,
        force: bool = False,
        save: bool = False,
        **options: Unpack[StopOptionsDict],
    ) -> PlanPreview:
        """Return what a workflow of a deployment would do now. ``save``: store the plan.

        The other arguments are those of ``executions.start``.
        """
        order = start_of(workflow, deployment, parameters, allow_custom_parameters=allow_custom_parameters, force=force)
        return self._call(ops.PLAN_WORKFLOW, order=order, save=save, manner=manner_of(options))

    def uninstall(
        self,
        deployment: str,
        *,
        ignore_failure: bool = False,
        save: bool = False,
        **options: Unpack[StopOptionsDict],
    ) -> PlanPreview:
        """Return what ``executions.uninstall`` would do now. ``save``: store the plan."""
        return self._call(
            ops.PLAN_UNINSTALL, name=deployment, ignore_failure=ignore_failure, save=save, manner=manner_of(options)
        )

    def update(
        self,
        deployment: str,
        file: str,
        *,
        save: bool = False,
        allowed_only: bool = False,
        **options: Unpack[UpdateAndRunOptionsDict],
    ) -> PlanPreview:
        """Return what ``deployments.update`` with the same arguments would do now. ``save``: store the plan.

        ``allowed_only``: raise PL-P041 if the update would raise it; otherwise the plan contains a warning.
        """
        order = update_of(deployment, file, options)
        return self._call(ops.PLAN_UPDATE, order=order, save=save, manner=manner_of(options), allowed_only=allowed_only)

    def adopt(
        self,
        document: str,
        deployment: str | None = None,
        *,
        blueprint: str | None = None,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] | None = None,
        allow_type_change: bool = False,
        check: bool = True,
        **options: Unpack[StopOptionsDict],
    ) -> PlanPreview:
        """Return what ``deployments.adopt`` would do with equal arguments, or raise its errors; nothing is stored."""
        order = adoption_of(
            document, deployment, blueprint, inputs, plugins, allow_type_change=allow_type_change, check=check
        )
        return self._call(ops.PLAN_ADOPTION, order=order, manner=manner_of(options))

    def list(self, deployment: str | None = None) -> Sequence[PlanView]:
        """Return the stored plans, latest first, each with its status: whether it can still be applied."""
        return self._call(ops.LIST_PLANS, deployment=deployment)

    def show(self, id: str) -> PlanDetails:
        """Return one stored plan, by its own id or by the id of the execution that carries it out."""
        return self._call(ops.SHOW_PLAN, id=id)

    def apply(self, id: str, **options: Unpack[FollowOptionsDict]) -> ExecutionView:
        """Carry out a stored plan. If the deployment has changed since, this is refused with the changes."""
        return self._call(ops.APPLY_PLAN, id=id, **options)

    def delete(self, id: str) -> PlanView:
        """Delete a stored plan that was not applied."""
        return self._call(ops.DELETE_PLAN, id=id)
