"""Calls a hook class in a test: for a made-up deployment, at a made-up time, without an engine.

>>> from phaseline.testing.builders import blueprint, node, topology
>>> class Small:
...     def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
...         if len(stack.resources) > 2:
...             raise ValueError(f"{len(stack.resources)} instances are too many")
>>> called(Small(), deployment(topology(blueprint(node("web", instances=3)))))
Answer(kind='failed', message='3 instances are too many', after_s=None, decisions={}, warnings=(), data={})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from phaseline.calls.deployments.call_subjects import LoadedDeployment
from phaseline.calls.deployments.hook_lookups import ExecutionHookLookup
from phaseline.calls.protocol.call import ExecutionContext
from phaseline.calls.protocol.hook_lookup import Approval, Usage
from phaseline.calls.protocol.no_secrets import NoSecrets
from phaseline.calls.threads.guarded_calls import guarded_call
from phaseline.hooks.call_arguments import seen
from phaseline.hooks.hook_context import HookCall
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.labels import Label, with_labels
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.execution.pre_post import DeploymentCallKind
from phaseline.model.graph.status import OutcomeKind

if TYPE_CHECKING:
    from phaseline.calls.protocol.call import DeploymentLookup
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology

KINDS: Mapping[OutcomeKind, Literal["agreed", "again", "failed"]] = {
    OutcomeKind.COMPLETED: "agreed",
    OutcomeKind.AGAIN: "again",
    OutcomeKind.FAILED: "failed",
}


@frozen
class Answer:
    """The result of a call of a hook: ``agreed``, ``again`` (after ``after_s`` seconds) or ``failed``.

    ``data`` is what the hook stores for its next call.
    """

    kind: Literal["agreed", "again", "failed"]
    message: str = ""
    after_s: float | None = None
    decisions: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    data: Mapping[str, Any] = field(default_factory=dict)


def deployment(
    topology: Topology,
    *,
    name: str = "shop",
    state: InstanceState = InstanceState.UNINITIALIZED,
    documents: Mapping[str, dict[str, Value]] | None = None,
    labels: Mapping[str, Sequence[str]] | None = None,
    inputs: Mapping[str, Value] | None = None,
    secrets: Mapping[str, str] | None = None,
) -> LoadedDeployment:
    """Return a deployment with these instances, all in one state. ``documents``: {instance id: runtime properties}."""
    kept = [Label(key, value) for key, values in (labels or {}).items() for value in values]
    written = altered(topology.blueprint, labels=with_labels(topology.blueprint.labels, kept))
    return LoadedDeployment(
        1,
        name,
        blueprint=written,
        topology=topology,
        code=CodeLocation("."),
        inputs=inputs or {},
        documents={topology.number_of[id]: dict(body) for id, body in (documents or {}).items()},
        states=np.full(len(topology), state, np.uint8),
        creator="ann",
        secrets=_Secrets(secrets or {}),
    )


class _Secrets(NoSecrets):
    """The secrets of a made-up deployment."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = known

    def get(self, name: str) -> str:
        return self._known[name]


class _Ground(ExecutionHookLookup):
    """Made-up data that a hook may read."""

    def __init__(self, target: LoadedDeployment | None, usage: Sequence[Usage], approvals: Sequence[Approval]) -> None:
        self._target, self._used, self._approved = target, usage, approvals

    def approvals(self) -> Sequence[Approval]:
        return self._approved

    def target(self, now: DeploymentLookup, *, takes_back: bool = False) -> LoadedDeployment:  # noqa: ARG002 - as it was made up
        return cast("LoadedDeployment", now) if self._target is None else self._target.as_is()

    def usage(self, key: str, value: str) -> Sequence[Usage]:  # noqa: ARG002 - as above
        return self._used


def called(
    hook: object,
    about: LoadedDeployment,
    *,
    method: Literal["do_pre_op", "do_post_op", "do_preview_op"] = "do_pre_op",
    action: str = "CREATE",
    workflow: str = "install",
    target: LoadedDeployment | None = None,
    why: DeploymentCallKind = DeploymentCallKind.BEFORE,
    at: datetime | None = None,
    data: dict[str, Any] | None = None,
    decisions: Mapping[str, Mapping[str, Value]] | None = None,
    parameters: Mapping[str, Value] | None = None,
    usage: Sequence[Usage] = (),
    approvals: Sequence[Approval] = (),
) -> Answer:
    """Return the answer of a hook's method for a deployment.

    ``data`` is what its previous call stored; ``at`` is the time, with zone.
    """
    phase: Literal["pre", "post", "undo", "preview"] = "preview" if method == "do_preview_op" else "pre"
    if method == "do_post_op":
        phase = "undo" if why is DeploymentCallKind.PRE_FAILED else "post"
    left = data or {}
    execution = ExecutionContext(
        f"{workflow}-1",
        workflow,
        parameters or {},
        "ann",
        decisions=decisions or {},
        ground=_Ground(target, usage, approvals),
    )
    which = HookCall(type(hook).__name__, phase, why.word)
    given = seen(about, execution, action, which, why=why, data=left, at=at)
    cnxt = given.cnxt
    arguments = [cnxt, given.stack, given.target, action, *([why.is_failure] if method == "do_post_op" else [])]
    _, error = guarded_call(getattr(hook, method), *arguments)
    if error is not None:
        return Answer("failed", str(error.args[0] if error.args else error), warnings=cnxt.warnings)
    outcome = cnxt.outcome()
    after_s = outcome.delay_ms / 1000 if outcome.kind is OutcomeKind.AGAIN else None
    return Answer(KINDS[outcome.kind], outcome.message, after_s, cnxt.decided, cnxt.warnings, left)
