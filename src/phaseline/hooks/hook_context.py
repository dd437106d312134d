"""The context of a hook, ``cnxt``, the first argument of its methods: data about the action, and ways to answer.

A hook that returns agrees; one that raises refuses. Beside that, ``warn`` shows a warning to users, ``decide`` stores
values for the operations of an instance (``item.decisions``, ``ctx.decisions``), and ``again`` requests another call
later, with ``data`` kept and no thread held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from phaseline.calls.deployments.hook_decisions import DECISIONS, WARNINGS
from phaseline.calls.protocol.call import MAX_LINE_CHARS, Outcome, truncate
from phaseline.calls.protocol.plugin_boundary import milliseconds
from phaseline.hooks.read_only_views import read_only
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.deployment.runtime_properties import storable
from phaseline.model.graph.status import OutcomeKind

if TYPE_CHECKING:
    from phaseline.calls.protocol.hook_lookup import Approval, Usage
    from phaseline.model.blueprint.blueprint import Value

MOST_WARNINGS = 100
"""Warnings of one call that are kept; all are in the log."""


@frozen
class HookCall:
    """The identity of one call of a hook class.

    ``reason`` of the call: ``before``, then ``completed``, ``failed``, ``cancelled``, ``timeout``, or ``pre_failed`` in an undo.
    ``attempt``: earlier calls that ended unseen.
    """

    name: str
    phase: Literal["pre", "post", "undo", "preview"]
    reason: str = "before"
    attempt: int = 0


@frozen
class ExecutionFacts:
    """What is known of an execution apart from its deployment.

    ``decisions``: what hooks before this one have decided. ``rollback_of``: the action that is taken back, empty for none.
    """

    execution_id: str = ""
    workflow: str = ""
    action: str = ""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    user: str = ""
    tenant: str = "default_tenant"
    deployment_id: str = ""
    decisions: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    rollback_of: str = ""
    depth: int = 0
    parent_execution_id: str = ""


class HookContext:
    """``cnxt``. What it knows of the execution is read from it: ``cnxt.workflow``, ``cnxt.user`` and so on."""

    auth_token: str | None = None
    """Heat's token of the caller; there is none."""

    def __init__(
        self,
        hook: HookCall,
        told: ExecutionFacts,
        *,
        data: dict[str, Any] | None = None,
        at: datetime | None = None,
        ids: Callable[[], Mapping[str, Any]] = dict,
        labels: Callable[[], Mapping[str, Any]] = dict,
        log: Callable[[str, str], None] | None = None,
        digest: Callable[[], str] = str,
        secret: Callable[[str], str] | None = None,
        settings: Callable[[], Mapping[str, Any]] = dict,
        usage: Callable[[str, str], Sequence[Usage]] | None = None,
        approvals: Callable[[], Sequence[Approval]] = tuple,
    ) -> None:
        """``ids``: gives the instances there are by id, ``labels`` those of the deployment. ``log`` keeps (level, line). ``digest``: the plan's digest.

        ``data``: what an earlier call left; ``at``: the time, now if it is not given. ``secret``: gives one by its name;
        ``settings``: those of its package; ``usage``: the deployments that have a label; ``approvals``: what people have approved.
        """
        self.hook = hook
        self.at = at or datetime.now(UTC)
        self.data: dict[str, Any] = {} if data is None else data
        self._told, self._ids, self._labels = told, ids, labels
        self._log, self._digest, self._secret, self._usage = log, digest, secret, usage
        self._settings = settings
        self._approvals = approvals
        self._decided: dict[str, dict[str, Value]] = {}
        self._warnings: list[str] = []
        self._again: Outcome | None = None
        self._failure: str | None = None

    @property
    def execution_id(self) -> str:
        """The id of the execution."""
        return self._told.execution_id

    @property
    def workflow(self) -> str:
        """The workflow that runs, such as ``install``."""
        return self._told.workflow

    @property
    def action(self) -> str:
        """The action, such as ``CREATE``, in the form for native classes."""
        return self._told.action

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of the workflow."""
        found: Mapping[str, Any] = read_only(self._told.parameters, "cnxt.parameters")
        return found

    @property
    def user(self) -> str:
        """The requesting user."""
        return self._told.user

    @property
    def tenant(self) -> str:
        """Whose it is."""
        return self._told.tenant

    @property
    def deployment_id(self) -> str:
        """The id of the deployment."""
        return self._told.deployment_id

    @property
    def labels(self) -> Mapping[str, Any]:
        """{key: values} of the deployment."""
        return self._labels()

    @property
    def rollback_of(self) -> str:
        """Of a rollback: the action that is taken back."""
        return self._told.rollback_of

    @property
    def depth(self) -> int:
        """How many deployments this one is a component of."""
        return self._told.depth

    @property
    def parent_execution_id(self) -> str:
        """The execution that wanted this one, for a component."""
        return self._told.parent_execution_id

    @property
    def decisions(self) -> Mapping[str, Mapping[str, Any]]:
        """{instance id: mapping} of what was decided so far in this execution, by this class and those before it."""
        found: dict[str, Mapping[str, Any]] = dict(self._told.decisions)
        for name, decided in self._decided.items():
            found[name] = {**found.get(name, {}), **decided}
        seen: Mapping[str, Mapping[str, Any]] = read_only(found, "cnxt.decisions")
        return seen

    @property
    def plan(self) -> str:
        """A digest of what is going to be done: equal as long as a look at it would show the same."""
        return self._digest()

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """What people have approved for this execution, oldest first."""
        return tuple(self._approvals())

    def secret(self, name: str) -> str:
        """The text of a secret. Where the engine writes, it is masked from now on. ``KeyError`` if there is none."""
        if self._secret is None:
            raise KeyError(name)
        return self._secret(name)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Of a class that a package brings: the package's settings as the deployment has them, defaults included."""
        found: Mapping[str, Any] = read_only(self._settings(), "cnxt.settings")
        return found

    def usage(self, key: str, value: str) -> Sequence[Usage]:
        """The deployments with this label, this one included if it has it, with their instances that exist or may be in creation."""
        return () if self._usage is None else self._usage(key, value)

    def log(self, text: str) -> None:
        """Keep a line with the execution."""
        if self._log is not None:
            self._log("info", text)

    def warn(self, text: str) -> None:
        """Warn users and continue: the text is shown at once, in the plan, and with the execution."""
        line = truncate(text, MAX_LINE_CHARS)
        if len(self._warnings) < MOST_WARNINGS:
            self._warnings.append(line)
        if self._log is not None:
            self._log("warning", line)

    def decide(self, instance_id: str, decision: Mapping[str, Value]) -> None:
        """Store values for the operations of an instance; several decisions about one instance are merged.

        Raises: ``ValueError`` outside of pre and preview, and for an unknown instance; ``TypeError`` for values that JSON
        cannot express.
        """
        if self.hook.phase not in {"pre", "preview"}:
            raise ValueError(f"a decision is made before the operations it is for, not in {self.hook.phase}")
        if instance_id not in self._ids():
            raise ValueError(f"there is no instance {instance_id!r} to decide about")
        given = storable(dict(decision), f"the decision about {instance_id!r}")
        assert isinstance(given, dict)
        self._decided[instance_id] = {**self._decided.get(instance_id, {}), **given}

    def again(self, after_s: float, text: str = "") -> None:
        """Request another call of the method after a delay in seconds, with the present ``data``, for this reason.

        It neither agrees nor refuses, and nothing else of the execution begins before the method has decided.
        """
        self._again = Outcome(OutcomeKind.AGAIN, milliseconds(after_s), truncate(text, MAX_LINE_CHARS))

    # -- for the caller of the hook

    def say_state(self, action: str, status: str, reason: str) -> None:
        """Record a state set by ``stack.state_set``: FAILED counts as if the hook had raised this (H49)."""
        if status == "FAILED":
            self._failure = truncate(reason, MAX_LINE_CHARS) if reason else f"{action} was set to FAILED"
        elif self._log is not None:
            self._log("info", f"state set to {action}_{status}: {reason}")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What it warned of."""
        return tuple(self._warnings)

    @property
    def decided(self) -> Mapping[str, Mapping[str, Value]]:
        """What it decided in this call."""
        return self._decided

    def outcome(self) -> Outcome:
        """What came of the call if the method returned."""
        if self._failure is not None:
            return Outcome(OutcomeKind.FAILED, message=self._failure)
        if self._again is not None:
            return self._again
        left: dict[str, Value] = {}
        if self._decided:
            left[DECISIONS] = dict(self._decided)
        if self._warnings:
            left[WARNINGS] = list(self._warnings)
        return Outcome(OutcomeKind.COMPLETED, message="; ".join(self._warnings), result=left or None)
