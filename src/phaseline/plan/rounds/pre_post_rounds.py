"""Wrap a workflow's planner in a planner that adds rounds of hooks before and after the workflow's rounds (ADR 0022).

The workflow itself is called the body here. Example: an install whose body fails and is to be taken back, with hook
classes A and B. First ``_opening`` builds the round "pre hooks" (A, then B). Then the body's planner plans its rounds,
until it reports a failure. ``_closing`` builds the round "post hooks", which reports the failure to A and B. Taking the
results back is a second action, which again calls the hooks: "pre hooks of rollback", the body's rounds of taking
back, "post hooks of rollback". Last comes the verdict of the body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.execution.execution import TOLERATED, GoOn, History, Verdict
from phaseline.model.execution.pre_post import CLOSING, OPENING, POST, PRE, UNDO, UNDOING, DeploymentCallKind
from phaseline.model.graph.graph import Graph, LaneSpec, Policy
from phaseline.model.graph.status import ExecutionStatus
from phaseline.plan.rounds import role_limits
from phaseline.plan.stages.stage_graph import build_stage_graph, on_deployment
from phaseline.plan.stages.stage_rounds import STAGE, within
from phaseline.plan.transforms.pipeline import Asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request, Reshape, Round
    from phaseline.model.execution.pre_post import PinnedHookClass, PrePost
    from phaseline.plan.graph.call_policies import Declare
    from phaseline.plan.graph.workflow import Planner

    Answer = Graph | Reshape | GoOn | Verdict

OF_TAKING_BACK = " of rollback"
"""Suffix of the names of hook rounds (pre, post and undo) while the results of a failed execution are taken back."""
AFTER = {
    DeploymentCallKind.COMPLETED: "",
    DeploymentCallKind.FAILED: " after a failure",
    DeploymentCallKind.CANCELED: " after a cancel",
    DeploymentCallKind.TIMED_OUT: " after a time-out",
}
"""{how the body ended: suffix of the name of the round of post hooks}.

So the name of a settled round shows which end of the body was reported to the hooks.
"""
HOOK_RETRIES = 0
"""Number of times a failed hook is called again: none, because a failure means that the hook refuses."""
CALLED = ("completed", "failed", TOLERATED)
"""Keys in the counts of a settled round for entries whose call has ended."""


def surrounded(planner: Planner, around: PrePost) -> Planner:
    """Return the planner of an execution: ``planner``, with rounds of hooks and tasks before and after its rounds."""

    def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Answer:
        asked = Asked(topology, request, history, declare)
        body = _Body(planner, around, asked)
        if not history.rounds and not history.canceled:
            first = body.answer()
            if isinstance(first, Verdict) and first.is_idle:
                return first
            if around.stages is not None and around.stages.limits:
                role_limits.look_ahead(around.stages.limits, planner, asked)
        if not any(done.name == OPENING + OF_TAKING_BACK for done in of_this_action(asked)):
            found = _Action(around.hooks, asked).answer(body)
            is_over = isinstance(found, Verdict) and _reported_kind(asked, "") is DeploymentCallKind.FAILED
            if not (is_over and request.take_back and body.has_begun):
                return found
        taking_back = _Action(around.taking_back, asked, OF_TAKING_BACK)
        return taking_back.answer(altered(body, takes_back=True))

    return plan


def is_of_surroundings(name: str) -> bool:
    """Return True for a round of hooks or stage tasks, False for a round of the body.

    >>> is_of_surroundings("pre hooks"), is_of_surroundings("stage post_deployment"), is_of_surroundings("install")
    (True, True, False)
    """
    return name.startswith((OPENING, CLOSING, UNDOING, STAGE))


@frozen
class _Body:
    """The workflow itself, between its hooks.

    With ``takes_back``, its planner is asked to take back the results of a failure.
    """

    planner: Planner
    around: PrePost
    asked: Asked
    takes_back: bool = False

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The workflow's own rounds so far, without those of hooks and stage tasks."""
        return tuple(done for done in self.asked.history.rounds if not is_of_surroundings(done.name))

    @property
    def has_begun(self) -> bool:
        """True when the body has planned a round in this action."""
        return any(not is_of_surroundings(done.name) for done in of_this_action(self.asked))

    @property
    def is_taken_back(self) -> bool:
        """True when the results of a failed execution were all taken back without a failure."""
        names = [done.name for done in self.asked.history.rounds]
        begun = len(names) - names[::-1].index(OPENING + OF_TAKING_BACK) if OPENING + OF_TAKING_BACK in names else 0
        rounds = [done for done in self.asked.history.rounds[begun:] if not is_of_surroundings(done.name)]
        return self.takes_back and (not rounds or (rounds[-1].is_met and not rounds[-1].counts.get(TOLERATED)))

    def answer(self) -> Answer:
        """Return the next round of the body, or its verdict."""
        rounds = self.rounds
        if self._goes_on(rounds):
            return GoOn(rounds[-1].name)
        asked = self.asked
        request = altered(asked.request, take_back=self.takes_back)
        told = _reported_kind(asked, OF_TAKING_BACK if self.takes_back else "")
        is_canceled = asked.history.canceled and told in {
            None,
            DeploymentCallKind.CANCELED,
        }  # a cancel after the body changes nothing
        history = altered(asked.history, rounds=tuple(map(self._of_now, rounds)), canceled=is_canceled)
        return self.planner(asked.topology, request, history, asked.declare)

    def _of_now(self, done: Round) -> Round:
        """Return the round; if it belongs to the present action, with the number of the present attempt.

        An action may span several attempts, because a user's decision about an unsure entry begins a new attempt.
        Rounds of an earlier action, rounds with unsure entries, and all rounds before a clean-up keep their number.
        """
        asked = self.asked
        was_left = asked.request.clean or done.counts.get("unsure")
        is_now = done.attempt >= asked.request.acts_since and not was_left
        return altered(done, attempt=asked.history.attempt) if is_now else done

    def _goes_on(self, rounds: tuple[Round, ...]) -> bool:
        """Return True if a retry continues the last graph.

        After taking back, or with a clean-up, a retry begins with a new graph instead.
        """
        history = self.asked.history
        if not rounds or rounds[-1].attempt >= self.asked.request.acts_since or history.canceled or history.is_afresh:
            return False
        was_taken_back = any(done.name.endswith(OF_TAKING_BACK) for done in history.rounds)
        return not (self.asked.request.clean or was_taken_back)


@frozen
class _Action:
    """An action with its hook classes: the workflow, or taking back its results.

    ``of`` is the suffix of the names of its hook rounds.
    """

    classes: Sequence[PinnedHookClass]
    asked: Asked
    of: str = ""

    def answer(self, body: _Body) -> Answer:
        """Return the next round that is due, or the verdict if no round is left."""
        opening = self._opening()
        if opening is not None:
            return opening
        found = within(body.asked, body.around, body.answer) if not self.of else body.answer()
        if not isinstance(found, Verdict):
            return found
        return self._closing(
            found, DeploymentCallKind.COMPLETED if body.is_taken_back else _why(found, self.asked.history)
        )

    def _opening(self) -> Graph | Verdict | None:
        """Return the graph of the pre calls, which come before the body; None when the body may begin.

        If a pre call has failed, return the graph of undo calls, and after it the verdict.
        """
        history, wanted = self.asked.history, [one for one in self.classes if one.has_pre]
        done = next((one for one in reversed(of_this_action(self.asked)) if one.name == OPENING + self.of), None)
        if done is None and (wanted or self.of):
            if history.canceled and not self.of:
                return Verdict(ExecutionStatus.CANCELED)
            before = [on_deployment(PRE + one.name, _policy(PRE, one), DeploymentCallKind.BEFORE) for one in wanted]
            return build_stage_graph(OPENING + self.of, before)
        if done is None or done.is_met:
            return None
        called = wanted[: done.counts.get("completed", 0)]
        why = DeploymentCallKind.CANCELED if history.canceled else DeploymentCallKind.PRE_FAILED
        undoing = self._owed(UNDO, UNDOING + self.of, [one for one in reversed(called) if one.has_post], why)
        return undoing or self._refused()

    def _refused(self) -> Verdict:
        history = self.asked.history
        reason = self._words(PRE, OPENING + self.of, "pre")
        told = "; ".join([reason, *filter(None, [self._words(UNDO, UNDOING + self.of, "undo")])])
        return Verdict(ExecutionStatus.CANCELED if history.canceled else ExecutionStatus.FAILED, told)

    def _closing(self, found: Verdict, why: DeploymentCallKind) -> Graph | Verdict:
        """Return the graph of the post calls, which come after the body and are given how it ended.

        After that graph, return the verdict; it is failed if a critical post call failed.
        """
        if found.status is ExecutionStatus.ATTENTION:
            return found
        why = _reported_kind(self.asked, self.of) or why
        name = CLOSING + AFTER[why] + self.of
        posts = self._owed(POST, name, [one for one in self.classes if one.has_post], why)
        if posts is not None:
            return posts
        if (self.classes or self.asked.request.take_back) and not self._rounds(name):
            return build_stage_graph(name, [])  # no hook is called, but the action has ended
        if not any(done.counts.get("failed") for done in self._rounds(name)):
            return found
        is_completed = found.status is ExecutionStatus.COMPLETED
        reason = "; ".join(filter(None, [found.reason, self._words(POST, name, "post")]))
        status = ExecutionStatus.FAILED if is_completed else found.status
        return altered(found, status=status, reason=reason, forgets=found.forgets and not is_completed)

    def _owed(
        self, prefix: str, name: str, classes: Sequence[PinnedHookClass], why: DeploymentCallKind
    ) -> Graph | None:
        """Return a graph of the calls that are still due, one after the other; None if all calls are done.

        A failed call does not prevent the calls after it.
        """
        called = sum(done.counts.get(word, 0) for done in self._rounds(name) for word in CALLED)
        stages = [
            on_deployment(prefix + one.name, _policy(prefix, one), why, tolerant=not one.critical, however=True)
            for one in classes[called:]
        ]
        return build_stage_graph(name, stages) if stages else None

    def _rounds(self, name: str) -> list[Round]:
        """Return the settled rounds of this name in the present action. After a cancel there may be several."""
        return [done for done in of_this_action(self.asked) if done.name == name]

    def _words(self, prefix: str, name: str, word: str) -> str:
        """Return the messages of a round's failed hooks, such as ``pre hook quota: more than 100 instances``."""
        said = self.asked.history.said(name)
        return "; ".join(f"{word} hook {phase.removeprefix(prefix)}: {text}" for phase, text in said)


def _policy(prefix: str, hook: PinnedHookClass) -> Policy:
    """Return the policy of a hook: called alone, in a thread, and again after a crash.

    The code that calls the hook limits its time and confirms when a canceled call ends.
    """
    return Policy(
        LaneSpec(prefix + hook.name, form="each"), max_retries=HOOK_RETRIES, repeatable=True, answers_stop=True
    )


def of_this_action(asked: Asked) -> tuple[Round, ...]:
    """Return the rounds of the present action. A retry begins a new action only if the action before it had ended."""
    return tuple(done for done in asked.history.rounds if done.attempt >= asked.request.acts_since)


def _reported_kind(asked: Asked, of: str) -> DeploymentCallKind | None:
    """Return how the body ended according to the report to the post hooks of an action; None if none were called yet.

    ``of`` is the suffix of the names of the action's hook rounds.
    """
    names = {CLOSING + words + of: why for why, words in AFTER.items()}
    found = [names[done.name] for done in of_this_action(asked) if done.name in names]
    return found[0] if found else None


def _why(found: Verdict, history: History) -> DeploymentCallKind:
    match found.status:
        case ExecutionStatus.COMPLETED:
            return DeploymentCallKind.COMPLETED
        case ExecutionStatus.CANCELED:
            return DeploymentCallKind.TIMED_OUT if history.is_timed_out else DeploymentCallKind.CANCELED
    return DeploymentCallKind.FAILED
