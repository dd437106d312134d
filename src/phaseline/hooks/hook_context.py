"""The context of a hook, ``cnxt``, the first argument of its methods: data about the action, and methods to answer.

A hook agrees to the action by returning, and refuses it by raising an exception. ``warn`` shows a warning to users.
``decide`` stores values for the operations of an instance (``item.decisions``, ``ctx.decisions``). ``again`` asks for
another call later, which keeps ``data`` and occupies no thread meanwhile.
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
"""Largest number of warnings that are kept for one call; further warnings are only logged."""


@frozen
class HookCall:
    """What identifies one call of a hook class.

    ``reason`` of the call: ``before`` for pre and preview; ``completed``, ``failed``, ``cancelled`` or ``timeout`` for
    post; ``pre_failed`` for an undo. ``attempt``: number of earlier calls whose end is unknown because their process
    died.
    """

    name: str
    phase: Literal["pre", "post", "undo", "preview"]
    reason: str = "before"
    attempt: int = 0


@frozen
class ExecutionFacts:
    """The facts about an execution that a hook may read.

    ``decisions``: what earlier hooks have decided. ``rollback_of``: the action that a rollback takes back, otherwise
    empty.
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
    """The context ``cnxt`` of a hook.

    Facts about the execution are its attributes: ``cnxt.workflow``, ``cnxt.user`` and so on.
    """

    auth_token: str | None = None
    """In Heat, the caller's authentication token. Always None in Phaseline."""

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
        """Make the context of one call from functions that are called only when the hook asks for something.

        ``ids``: returns the deployment's instances by id. ``labels``: its labels. ``log``: stores a line with its
        level. ``digest``: returns the digest of the plan. ``data``: what an earlier call stored. ``at``: the time, by
        default now. ``secret``: returns a secret's text by its name. ``settings``: the settings of the hook's package.
        ``usage``: the deployments that have a label. ``approvals``: what users have approved.
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
        """The action, such as ``CREATE``, in Phaseline's own names."""
        return self._told.action

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of the workflow."""
        found: Mapping[str, Any] = read_only(self._told.parameters, "cnxt.parameters")
        return found

    @property
    def user(self) -> str:
        """The user that requested the execution."""
        return self._told.user

    @property
    def tenant(self) -> str:
        """The tenant to which the deployment belongs."""
        return self._told.tenant

    @property
    def deployment_id(self) -> str:
        """The id of the deployment."""
        return self._told.deployment_id

    @property
    def labels(self) -> Mapping[str, Any]:
        """The labels of the deployment: {key: values}."""
        return self._labels()

    @property
    def rollback_of(self) -> str:
        """The action that is taken back if this is a rollback, otherwise empty."""
        return self._told.rollback_of

    @property
    def depth(self) -> int:
        """The number of deployments that contain this one as a component, directly or indirectly."""
        return self._told.depth

    @property
    def parent_execution_id(self) -> str:
        """The id of the execution that started this one, if the deployment is a component; otherwise empty."""
        return self._told.parent_execution_id

    @property
    def decisions(self) -> Mapping[str, Mapping[str, Any]]:
        """The decisions made so far in this execution, by this hook class and earlier ones: {instance id: mapping}."""
        found: dict[str, Mapping[str, Any]] = dict(self._told.decisions)
        for name, decided in self._decided.items():
            found[name] = {**found.get(name, {}), **decided}
        seen: Mapping[str, Mapping[str, Any]] = read_only(found, "cnxt.decisions")
        return seen

    @property
    def plan(self) -> str:
        """A digest of the planned action; it differs if a preview of the action would show anything else."""
        return self._digest()

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """The approvals that users have given for this execution, oldest first."""
        return tuple(self._approvals())

    def secret(self, name: str) -> str:
        """Return the text of a secret; from now on the engine masks this text in all it writes.

        Raises: ``KeyError`` if unknown.
        """
        if self._secret is None:
            raise KeyError(name)
        return self._secret(name)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The deployment's settings of the package that contains the hook class, including defaults; empty without a
        package.
        """
        found: Mapping[str, Any] = read_only(self._settings(), "cnxt.settings")
        return found

    def usage(self, key: str, value: str) -> Sequence[Usage]:
        """Return a ``Usage`` for each deployment that has this label: its numbers of instances by type.

        The hook's own deployment is included if it has the label.
        """
        return () if self._usage is None else self._usage(key, value)

    def log(self, text: str) -> None:
        """Store a log line with the execution."""
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

        Raises: ``ValueError`` outside of pre and preview, and for an unknown instance; ``TypeError`` for values that
        JSON cannot express.
        """
        if self.hook.phase not in {"pre", "preview"}:
            raise ValueError(f"a decision is made before the operations it is for, not in {self.hook.phase}")
        if instance_id not in self._ids():
            raise ValueError(f"there is no instance {instance_id!r} to decide about")
        given = storable(dict(decision), f"the decision about {instance_id!r}")
        assert isinstance(given, dict)
        self._decided[instance_id] = {**self._decided.get(instance_id, {}), **given}

    def again(self, after_s: float, text: str = "") -> None:
        """Ask for another call of this method after ``after_s`` seconds, with the current ``data``; ``text`` is the
        reason.

        The hook then neither agrees nor refuses, and nothing else of the execution begins until the hook has decided.
        """
        self._again = Outcome(OutcomeKind.AGAIN, milliseconds(after_s), truncate(text, MAX_LINE_CHARS))

    # -- for the caller of the hook

    def say_state(self, action: str, status: str, reason: str) -> None:
        """Record a state set by ``stack.state_set``; FAILED counts as if the hook had raised an exception with this
        reason (H49).
        """
        if status == "FAILED":
            self._failure = truncate(reason, MAX_LINE_CHARS) if reason else f"{action} was set to FAILED"
        elif self._log is not None:
            self._log("info", f"state set to {action}_{status}: {reason}")

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings that the hook gave in this call."""
        return tuple(self._warnings)

    @property
    def decided(self) -> Mapping[str, Mapping[str, Value]]:
        """The decisions that the hook made in this call: {instance id: values}."""
        return self._decided

    def outcome(self) -> Outcome:
        """Return the outcome of a call whose method has returned."""
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
