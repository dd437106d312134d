"""Call one method of a hook class by hand, outside any execution, with the present state of a deployment."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from phaseline.calls.deployments.deployment_cache import DeploymentCache
from phaseline.calls.deployments.hook_lookups import ExecutionHookLookup
from phaseline.calls.protocol.call import ExecutionContext, Outcome
from phaseline.calls.threads.guarded_calls import call_and_await, guarded_call
from phaseline.hooks.call_arguments import seen
from phaseline.hooks.caller import failed
from phaseline.hooks.declaration import read
from phaseline.hooks.hook_context import HookCall
from phaseline.hooks.method_arguments import POST, PRE, PREVIEW
from phaseline.hooks.time_limited_threads import BoundedThreads
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.execution.lifecycle_actions import action_of
from phaseline.model.execution.pre_post import DeploymentCallKind
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.use_cases.loading.hook_registry import named, problem_of
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.queries.hooks import find

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.hooks.declaration import KnownHook
    from phaseline.hooks.hook_context import HookContext
    from phaseline.model.blueprint.blueprint import Value

Method = Literal["pre", "post", "preview"]
METHODS: Mapping[Method, str] = {"pre": PRE, "post": POST, "preview": PREVIEW}
MEND = "correct the class; its module is looked for in the folders of plugins.path, then among the installed packages"
SAID: Mapping[OutcomeKind, Literal["agreed", "waits", "refused"]] = {
    OutcomeKind.COMPLETED: "agreed",
    OutcomeKind.AGAIN: "waits",
    OutcomeKind.FAILED: "refused",
}


@frozen
class HookTried:
    """The ``answer`` of a hook class, with its warnings, decisions and log lines.

    ``waits``: it asked to be called again. ``refused``: ``message`` and ``traceback`` have the reason.
    """

    name: str
    method: str
    action: str
    deployment: str
    answer: Literal["agreed", "waits", "refused"]
    took_ms: int
    message: str = ""
    warnings: Sequence[str] = ()
    decisions: Mapping[str, Mapping[str, Value]] = {}
    lines: Sequence[str] = ()
    traceback: str = ""

    @property
    def is_good(self) -> bool:
        """Return False if the hook class refused."""
        return self.answer != "refused"


def try_hook(
    ctx: RequestContext, name: str, deployment: str, *, workflow: str = "install", method: Method = "pre"
) -> HookTried:
    """Call one method of a hook class (its name, or module:Class) as the workflow would, without storing its result.

    Effects of the class on other systems do happen. The target of an update is the deployment itself.

    Raises: PL-H001 (the class cannot be used), PL-H002 (no such class), PL-H004 (it has no such method),
    PL-C010 (no such deployment).
    """
    row = find_deployment(ctx.store, deployment)
    hook = _one(ctx, name, row.number)
    if METHODS[method] not in hook.methods:
        mend = f"name one that it has, with --method: {', '.join(word for word in METHODS if METHODS[word] in hook.methods)}"
        raise problem_error("PL-H004", f"the hook class '{name}' has no {METHODS[method]}", mend)
    about = DeploymentCache(ctx.store, ctx.vault).loaded(row.number)
    why = DeploymentCallKind.COMPLETED if method == "post" else DeploymentCallKind.BEFORE
    action = next(iter(hook.called_as(action_of(workflow))), action_of(workflow))
    lines: list[str] = []
    ground = ExecutionHookLookup(0, ctx.store, lambda _: None, lambda: None)
    execution = ExecutionContext("", workflow, creator=ctx.actor.name, tenant=ctx.actor.tenant, ground=ground)
    given = seen(
        about,
        execution,
        action,
        HookCall(hook.name, method, why.word),
        why=why,
        log=lambda level, text: lines.append(f"{level}: {text}"),
        settings=hook.entry.settings,
    )
    one = ctx.catalog.load_hook(hook.pinned(hook.name, action))()
    arguments = given.cnxt, given.stack, given.target, action
    begun = time.monotonic()
    outcome = _called(partial(call_and_await, getattr(one, METHODS[method]), *arguments), given.cnxt, hook.timeout_s)
    return HookTried(
        hook.name,
        METHODS[method],
        action,
        row.name,
        SAID[outcome.kind],
        round((time.monotonic() - begun) * 1000),
        outcome.message,
        given.cnxt.warnings,
        given.cnxt.decided,
        lines,
        outcome.error.get("traceback", ""),
    )


def _one(ctx: RequestContext, name: str, deployment: int) -> KnownHook:
    """Return the hook class of this name, or the one given as module:Class, announced or not."""
    if ":" in name and "/" not in name:
        hook = read(named(ctx.settings, name, name.rpartition(":")[2]), ctx.catalog.load_hook)
    else:
        hook = find(ctx, name, deployment)[0]
    if hook.fault:
        raise ProblemsError([altered(problem_of(hook), mend=MEND)])
    return hook


def _called(code: partial[None], cnxt: HookContext, timeout_s: float) -> Outcome:
    try:
        _, error = BoundedThreads().run(partial(guarded_call, code), timeout_s)
    except TimeoutError:
        return Outcome(OutcomeKind.FAILED, message=f"timed out after {timeout_s:g} s")
    return cnxt.outcome() if error is None else failed(error)
