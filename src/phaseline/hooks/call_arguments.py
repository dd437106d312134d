"""Builds the arguments of a hook method: the context, the view of the deployment, the view of the target, and the
action.

All parts are made when they are first used, so that unused ones cost nothing, however large the deployment is.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

from phaseline.hooks.hook_context import ExecutionFacts, HookCall, HookContext
from phaseline.hooks.stack_view import COMPLETE, FAILED, IN_PROGRESS, NOT_YET, StackView
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.execution.lifecycle_actions import ROLLBACK, action_of
from phaseline.model.execution.pre_post import POST, PRE, UNDO, DeploymentCallKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.calls.protocol.call import ExecutionContext, PluginCall
    from phaseline.model.blueprint.blueprint import Value

PHASES: dict[str, Literal["pre", "post", "undo"]] = {PRE: "pre", POST: "post", UNDO: "undo"}
BEGINS = frozenset({"CREATE", "ADOPT", "DELETE", "ABANDON"})
"""Actions for which the view that ``do_pre_op`` gets already shows the action itself, in progress.

For any other action the view shows how the previous action ended. Heat behaves like this.
"""
AIMED = frozenset({"UPDATE", "SCALE", "RESTORE", "RELABEL"})
"""Actions that change a deployment into another shape. Only for these a hook gets a view of the target, the shape after
the action. In a rollback the target is the shape before the action that is taken back.
"""
NO_SETTINGS: Mapping[str, Value] = MappingProxyType({})
STARTED = int(InstanceState.STARTED)
BEFORE_IT = frozenset({int(state) for state in InstanceState if state.name.lower() in NOT_YET})


@frozen
class Seen:
    """The arguments of a hook method.

    ``target`` is the deployment as the action will make it, or None for an action that is not in ``AIMED``.
    """

    cnxt: HookContext
    stack: StackView
    target: StackView | None
    action: str


def seen_by(call: PluginCall) -> Seen:
    """Return the arguments for the hook method that ``call`` names.

    The views show the current deployment.
    """
    hook = call.site.hook
    assert hook is not None
    which = HookCall(hook.name, _phase(call.site.operation), call.why.word, call.attempt)
    data = call.data if isinstance(call.data, dict) else {}
    call.data = data
    return seen(
        cast("LoadedDeployment", call.world),
        call.site.execution,
        hook.action,
        which,
        why=call.why,
        data=data,
        log=call.log,
        settings=hook.settings,
    )


def seen(
    world: LoadedDeployment,
    execution: ExecutionContext,
    told_action: str,
    which: HookCall,
    *,
    why: DeploymentCallKind = DeploymentCallKind.BEFORE,
    data: dict[str, Any] | None = None,
    log: Callable[[str, str], None] | None = None,
    at: datetime | None = None,
    settings: Mapping[str, Value] = NO_SETTINGS,
) -> Seen:
    """Return the arguments for a hook class; it gets ``told_action`` as the name of the execution's action.

    ``data``, ``log`` and ``at`` are passed to ``HookContext``. ``settings`` are the stored settings of the class's
    package.
    """
    ground, deployment = execution.ground, world.as_is()
    native = action_of(deployment.blueprint.meaning(execution.workflow))
    assert ground is not None, "an execution with hooks has it"
    action = ROLLBACK if told_action == ROLLBACK else native
    taken_back = native if action == ROLLBACK and native != ROLLBACK else ""
    has_target = (taken_back or action) in AIMED

    def aimed() -> LoadedDeployment:
        return cast("LoadedDeployment", ground.target(deployment, takes_back=bool(taken_back)))

    told = ExecutionFacts(
        execution.id,
        execution.workflow,
        action,
        execution.parameters,
        execution.creator,
        execution.tenant,
        deployment.view.id,
        decisions=execution.decisions,
        rollback_of=taken_back,
    )
    cnxt = HookContext(
        which,
        told,
        data=data,
        at=at,
        ids=lambda: (aimed() if has_target else deployment).topology.number_of,
        labels=lambda: stack.labels,
        log=log,
        digest=lambda: _digest(execution, [deployment, *([aimed()] if has_target else [])]),
        secret=deployment.secret,
        settings=lambda: world.package_settings(settings),
        usage=ground.usage,
        approvals=ground.approvals,
    )
    word, status = standing(deployment, action, taken_back, why)
    stack = StackView(lambda: deployment, word, status, said=cnxt.say_state)
    target = StackView(aimed, told_action, IN_PROGRESS, whose="target", said=cnxt.say_state) if has_target else None
    return Seen(cnxt, stack, target, told_action)


def standing(deployment: LoadedDeployment, action: str, taken_back: str, why: DeploymentCallKind) -> tuple[str, str]:
    """Return the (action, status) that Heat would show for a deployment at this call (Heat document, §5).

    ``taken_back`` is the action that a rollback undoes, otherwise empty. The last action is not stored. Before an
    action on an existing deployment the status is therefore derived from its instances.
    """
    if why is not DeploymentCallKind.BEFORE:
        return action, FAILED if why.is_failure else COMPLETE
    if action in BEGINS or taken_back in BEGINS:
        return action, IN_PROGRESS
    if taken_back:
        return taken_back, FAILED
    states = set(deployment.states[deployment.topology.is_there].tolist())
    if states <= BEFORE_IT and states:
        return "INIT", COMPLETE
    return "CREATE", COMPLETE if states <= {STARTED} else FAILED


def _digest(execution: ExecutionContext, at_hand: Sequence[LoadedDeployment]) -> str:
    from phaseline.hooks.plan_digest import plan_digest  # needed only on request

    return plan_digest(execution.workflow, execution.parameters, at_hand)


def _phase(operation: str) -> Literal["pre", "post", "undo"]:
    return next(word for prefix, word in PHASES.items() if operation.startswith(prefix))
