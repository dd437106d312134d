"""A hook class called by hand: about a made-up deployment, at a made-up time, without an engine.

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
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from phaseline.hooks.digests import plan_digest
from phaseline.hooks.hook_context import HookCall, HookContext, Told
from phaseline.hooks.seen import standing
from phaseline.hooks.stack import IN_PROGRESS, StackView
from phaseline.model.around import Why
from phaseline.model.frozen import altered, frozen
from phaseline.model.labels import Label, with_labels
from phaseline.model.rows import CodePlaces
from phaseline.model.states import InstanceState
from phaseline.model.status import OutcomeKind
from phaseline.run.plugin_code import attempt
from phaseline.run.subjects import LoadedDeployment

if TYPE_CHECKING:
    from phaseline.model.blueprint import Value
    from phaseline.model.topology import Topology
    from phaseline.run.grounds import Usage

KINDS: Mapping[OutcomeKind, Literal["agreed", "again", "failed"]] = {
    OutcomeKind.COMPLETED: "agreed",
    OutcomeKind.AGAIN: "again",
    OutcomeKind.FAILED: "failed",
}


@frozen
class Answer:
    """What came of a call: ``agreed``, ``again`` (after ``after_s``) or ``failed``. ``data``: what the next call finds."""

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
) -> LoadedDeployment:
    """A deployment with these instances, all in one state. ``documents``: {instance id: runtime properties}."""
    kept = [Label(key, value) for key, values in (labels or {}).items() for value in values]
    written = altered(topology.blueprint, labels=with_labels(topology.blueprint.labels, kept))
    return LoadedDeployment(
        1,
        name,
        blueprint=written,
        topology=topology,
        code=CodePlaces("."),
        inputs=inputs or {},
        documents={topology.number_of[id]: dict(body) for id, body in (documents or {}).items()},
        states=np.full(len(topology), state, np.uint8),
        creator="ann",
    )


def called(
    hook: object,
    about: LoadedDeployment,
    *,
    method: Literal["do_pre_op", "do_post_op", "do_preview_op"] = "do_pre_op",
    action: str = "CREATE",
    workflow: str = "install",
    target: LoadedDeployment | None = None,
    why: Why = Why.BEFORE,
    at: datetime | None = None,
    data: dict[str, Any] | None = None,
    decisions: Mapping[str, Mapping[str, Value]] | None = None,
    parameters: Mapping[str, Value] | None = None,
    secrets: Mapping[str, str] | None = None,
    usage: Sequence[Usage] = (),
) -> Answer:
    """What a method of a hook answers about a deployment. ``data``: what its last call left; ``at``: the time, with zone."""
    phase: Literal["pre", "post", "undo", "preview"] = "preview" if method == "do_preview_op" else "pre"
    if method == "do_post_op":
        phase = "undo" if why is Why.PRE_FAILED else "post"
    at_hand = [about] if target is None else [about, target]
    left = data or {}
    cnxt = HookContext(
        HookCall(type(hook).__name__, phase, why.word),
        Told(
            f"{workflow}-1", workflow, action, parameters or {}, "ann", deployment_id=about.view.id,
            decisions=decisions or {},
        ),
        data=left,
        at=at,
        ids=lambda: at_hand[-1].topology.number_of,
        labels=lambda: stack.labels,
        digest=lambda: plan_digest(workflow, parameters or {}, at_hand),
        secret=(secrets or {}).__getitem__,
        usage=lambda _key, _value: usage,
    )  # fmt: skip
    stack = StackView(about.as_is, *standing(about, action, "", why), said=cnxt.say_state)
    aimed = None if target is None else StackView(target.as_is, action, IN_PROGRESS, whose="target")
    given = (cnxt, stack, aimed, action)
    _, error = attempt(getattr(hook, method), *(given if method != "do_post_op" else (*given, why.is_failure)))
    if error is not None:
        return Answer("failed", str(error.args[0] if error.args else error), warnings=cnxt.warnings)
    outcome = cnxt.outcome()
    after_s = outcome.delay_ms / 1000 if outcome.kind is OutcomeKind.AGAIN else None
    return Answer(KINDS[outcome.kind], outcome.message, after_s, cnxt.decided, cnxt.warnings, left)
