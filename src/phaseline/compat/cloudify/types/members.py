"""The members of a call of such a function: their values, what they have made before, and their outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.calls.batches.local_channel import LocalChannel
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.rows.dependencies import Dependency

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from phaseline.calls.batches.native_items import Item, ItemBatch
    from phaseline.calls.protocol.call import PluginCall
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.causes import CausedRow
    from phaseline.model.rows.dependencies import DependencyKind
    from phaseline.model.rows.follow_ups import FollowUp
    from phaseline.ports.estate import CallEntry, Estate

WRONG = "PL-C114"
"""Code of a node whose configuration cannot be used."""


class Member:
    """One item of a batch, with its entry and the estate."""

    def __init__(self, batch: ItemBatch, place: int, made: dict[int, list[CausedRow]]) -> None:
        """``made`` is {execution: what Components in it have made}, which all members of the batch share.

        Raises: PL-C114 if the call is not made by an engine, as a trial of the function.
        """
        self.item: Item = batch[place]
        self.call: PluginCall = batch.call_at(place)
        self._batch, self._place, self._made = batch, place, made
        channel = self.call.channel
        estate = channel.estate if isinstance(channel, LocalChannel) else None
        if not isinstance(channel, LocalChannel) or estate is None:
            raise problem_error(WRONG, "only an engine can call this function", "run a workflow of the deployment")
        self.estate: Estate = estate
        self.entry: CallEntry = channel.entry_of(self.call)

    @property
    def runtime(self) -> dict[str, Value]:
        """The runtime properties, which may be changed."""
        return self.item.runtime_properties

    def value(self, key: str) -> Value:
        """Return a value from the operation's inputs, else from the runtime properties, else from the node's properties."""
        for place in (self.item.inputs, self.runtime, self.item.properties):
            found = place.get(key)
            if found not in (None, {}, ""):
                return found
        return None

    def part(self, key: str) -> Mapping[str, Value]:
        """Return what the runtime properties hold about the ``blueprint`` or the ``deployment``; empty if nothing."""
        found = self.runtime.get(key)
        return found if isinstance(found, dict) else {}

    def made(self) -> list[CausedRow]:
        """Return all that Components in this execution have made, read once for all members."""
        found = self._made.get(self.entry.execution)
        if found is None:
            found = self._made[self.entry.execution] = list(self.estate.caused(self.entry.execution))
        return found

    def need(self, kind: DependencyKind, provider: str = "") -> Dependency:
        """Return the record that this instance needs a deployment, the one that its follow-up makes if none is named."""
        return Dependency(kind, f"nodes.{self.item.node_id}", provider=provider, instance=self.item.instance_id)

    def again(self, after_s: float, message: str, follow_up: FollowUp) -> None:
        """Be called again after this time, or when an execution that the follow-up awaits has ended."""
        self.follow(follow_up)
        self.item.again(after_s, message)

    def follow(self, follow_up: FollowUp) -> None:
        """Make or delete something in the turn of the outcome."""
        self._batch.follow(self._place, follow_up)


def for_each(batch: ItemBatch, work: Callable[[Member], None]) -> None:
    """Do the work for each member; one that is refused fails without the others."""
    made: dict[int, list[CausedRow]] = {}
    for place in range(len(batch)):
        try:
            work(Member(batch, place, made))
        except ProblemsError as error:
            batch[place].fail("\n".join(_sentence(problem) for problem in error.problems))


def _sentence(problem: Problem) -> str:
    return f"{problem.code} {problem.message}; {problem.mend}"
