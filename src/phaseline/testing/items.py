"""Items and batches without an engine, so that a plugin's function is tested like any other function.

>>> from phaseline import operation
>>> @operation(bulk=True, repeatable=True)
... def create(batch):
...     for item in batch:
...         item.runtime_properties["disk"] = f"disk-of-{item.instance_id}"
>>> batch = fake_batch(2, node="db", properties={"size": 10})
>>> create(batch)
>>> [done.outcome for done in batch.outcomes]
['completed', 'completed']
>>> batch[1].runtime_properties
{'disk': 'disk-of-db_2'}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, overload

from phaseline.app.callers import make_caller
from phaseline.calls.batches.caller_registry import CallerRegistry
from phaseline.calls.batches.native_items import Item, ItemBatch
from phaseline.calls.batches.trial_call import ROOT, Subject, Trial, TrialMember, Tried
from phaseline.calls.protocol.call import Outcome
from phaseline.model.graph.status import OutcomeKind
from phaseline.testing.phases import target_of

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.testing.phases import LoadedPhase

__all__ = ["FakeBatch", "FakeItem", "Subject", "Tried", "call", "fake_batch", "fake_item"]


class FakeItem(Item):
    """An item whose outcome a test can read."""

    __slots__ = ("_made",)

    def __init__(self, batch: FakeBatch, place: int) -> None:
        """``place`` is the item's index in its batch."""
        super().__init__(batch, place)
        self._made = batch

    @property
    def outcome(self) -> Tried:
        """The outcome of the item so far. Without one it is completed, as it would be for an engine when the function returns."""
        return self._made.outcomes[self._place]

    @property
    def lines(self) -> Sequence[tuple[str, str]]:
        """The lines that were logged for the item, as (level, text)."""
        return tuple(self._made.trial.lines[self._place])


class FakeBatch(ItemBatch):
    """A batch whose outcomes a test can read."""

    def __init__(self, members: Sequence[TrialMember]) -> None:
        """Make a batch of these members, in their order."""
        self.trial = Trial(members)
        super().__init__(len(members), self.trial.call_at)

    def __iter__(self) -> Iterator[FakeItem]:
        """Return all items in order."""
        return (FakeItem(self, place) for place in range(len(self)))

    @overload
    def __getitem__(self, place: int) -> FakeItem: ...
    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...
    def __getitem__(self, place: int | slice) -> FakeItem | list[Item]:
        """Return the item at a place, or a list of them."""
        places = range(len(self))[place]
        return [FakeItem(self, number) for number in places] if isinstance(places, range) else FakeItem(self, places)

    @property
    def outcomes(self) -> list[Tried]:
        """The outcomes of the items so far, in order; completed if none was set."""
        found = []
        for place, kind in enumerate(self._kinds):
            said = OutcomeKind(kind or OutcomeKind.COMPLETED)
            outcome = Outcome(said, self._delays.get(place, -1), self._messages.get(place, ""))
            found.append(self.trial.tried(place, outcome))
        return found


def fake_item(
    *,
    node: str = "thing",
    properties: Mapping[str, Value] | None = None,
    runtime_properties: Mapping[str, Value] | None = None,
    inputs: Mapping[str, Value] | None = None,
    type: str = ROOT,  # noqa: A002 - the word of blueprints
    attempt: int = 0,
    data: Value = None,
    target: Subject | None = None,
    side: Literal["source", "target"] = "source",
    is_canceled: bool = False,
    phase_data: Mapping[str, Value] | None = None,
) -> FakeItem:
    """Return one item.

    ``phase_data`` is what the called phase stores with it. With ``target``, the operation belongs to a relationship to
    this instance, and is called on its ``side``.

    >>> fake_item(node="vm", properties={"size": 3}).properties["size"]
    3
    >>> fake_item(node="web", target=Subject("db", runtime_properties={"port": 5432})).target.runtime_properties["port"]
    5432
    """
    subject = Subject(node, properties or {}, runtime_properties or {}, type)
    return FakeBatch([TrialMember(subject, inputs or {}, attempt, data, target, side, is_canceled, phase_data or {})])[
        0
    ]


def fake_batch(
    items: int | Sequence[FakeItem] = 1,
    *,
    node: str = "thing",
    properties: Mapping[str, Value] | None = None,
    runtime_properties: Mapping[str, Value] | None = None,
    inputs: Mapping[str, Value] | None = None,
) -> FakeBatch:
    """Return a batch of ``items`` equal items. If ``items`` is a list of items, the other arguments are ignored.

    >>> len(fake_batch(3)), fake_batch([fake_item(node="a"), fake_item(node="b")])[1].node_id
    (3, 'b')
    """
    if isinstance(items, int):
        subject = Subject(node, properties or {}, runtime_properties or {})
        return FakeBatch([TrialMember(subject, inputs or {})] * items)
    return FakeBatch([given for item in items for given in item._made.trial.members])  # noqa: SLF001 - our own class


def call(function: Callable[..., object] | LoadedPhase, given: FakeItem | FakeBatch) -> list[Tried]:
    """Call the function with these items; return the outcomes an engine would get. An exception is in ``raised``, too.

    A bulk function gets the whole batch, another native one each item, and an undecorated one ``ctx`` and its inputs. A
    phase's function gets its handler, or each resource and its data. Raises: ``ProblemsError`` for a phase that no engine
    would accept; an ``AssertionError`` of the function, because then the test itself, or a fake of it, has failed.

    >>> def broken(ctx, **inputs):
    ...     raise ValueError("no such machine")
    >>> [done] = call(broken, fake_item())
    >>> done.outcome, done.message
    ('retry', 'no such machine')
    """
    target = target_of(function)
    trial = Trial(members_of(given), phase=target.phase, keeps_raised=True)
    done = trial.call(target.function, CallerRegistry(make_caller))
    for each in done:
        if isinstance(each.raised, AssertionError):
            raise each.raised
    return done


def members_of(given: FakeItem | FakeBatch) -> Sequence[TrialMember]:
    """Return the members from which the item or batch was made."""
    batch = given if isinstance(given, FakeBatch) else given._made  # noqa: SLF001 - our own class
    return batch.trial.members
