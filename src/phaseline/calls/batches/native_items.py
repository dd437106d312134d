"""Items and batches of items: the arguments of functions with the native declaration (decision 12).

A function marks outcomes on items, or on the batch for many items. Items without a mark are completed when the
function returns, and retried or failed when it raises. Items are created while the function iterates over the
batch, and their data is looked up when it is used.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, overload

from phaseline.calls.batches.bulk_call import BulkOutcome
from phaseline.calls.protocol.call import COMPLETED, MAX_MESSAGE_CHARS, Outcome, PluginCall, outcome_of, truncate
from phaseline.calls.protocol.plugin_boundary import milliseconds, require_storable
from phaseline.calls.threads.guarded_calls import call_and_await, guarded_call
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.operation_declaration import declaration_of
from phaseline.model.graph.status import OutcomeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from phaseline.calls.batches.bulk_call import BulkCall
    from phaseline.calls.protocol.call import InstanceContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.follow_ups import FollowUp

PENDING = OutcomeKind.PENDING
COMPLETED_KIND = int(OutcomeKind.COMPLETED)
"""``COMPLETED`` as a plain number, because numpy converts members of an enumeration slowly."""
OUR_FRAMES = 2
"""Frames of Phaseline (``guarded_call``, ``call_and_await``) above the function, which its traceback need not show."""


class ItemLog:
    """The log of one item, used like a logger: ``log.info("%s ready", name)``."""

    __slots__ = ("_call",)

    def __init__(self, call: PluginCall) -> None:
        """Log through ``call``, which stores each line with its instance."""
        self._call = call

    def debug(self, text: str, *arguments: object) -> None:
        """Log a line at the debug level."""
        self._call.log("debug", filled(text, arguments))

    def info(self, text: str, *arguments: object) -> None:
        """Log a line at the info level."""
        self._call.log("info", filled(text, arguments))

    def warning(self, text: str, *arguments: object) -> None:
        """Log a line at the warning level."""
        self._call.log("warning", filled(text, arguments))

    def error(self, text: str, *arguments: object) -> None:
        """Log a line at the error level."""
        self._call.log("error", filled(text, arguments))


def filled(text: str, arguments: tuple[object, ...]) -> str:
    """Return the text with its arguments inserted as ``logging`` does it, or appended if they do not fit.

    It raises nothing, because a log line must not fail a call.

    >>> filled("%s of %d", ("a", 2)), filled("%(n)s", ({"n": 1},)), filled("100%", ()), filled("%d", ("a",))
    ('a of 2', '1', '100%', "%d ('a',)")
    """
    if not arguments:
        return text
    named = len(arguments) == 1 and isinstance(arguments[0], dict) and arguments[0]
    found, error = guarded_call(str.__mod__, text, named or arguments)
    return f"{text} {guarded_call(repr, arguments)[0]}" if error is not None or found is None else found


class Item:
    """One member of a batch: a node instance, or a relationship with ``source`` and ``target``.

    For a relationship, ``properties``, ``runtime_properties``, ``instance_id`` and ``node_id`` are those of the
    instance on the side whose operation is called.
    """

    __slots__ = ("_batch", "_place")

    def __init__(self, batch: ItemBatch, place: int) -> None:
        """``place`` is the index in the batch; items with the same index are interchangeable."""
        self._batch = batch
        self._place = place

    @property
    def _call(self) -> PluginCall:
        return self._batch._call_at(self._place)  # noqa: SLF001 - an item is a place in its batch

    @property
    def properties(self) -> Mapping[str, Value]:
        """The evaluated properties of the instance's node; they must not be changed."""
        return self._call.owner.node.properties

    @property
    def runtime_properties(self) -> dict[str, Value]:
        """The runtime properties of the instance; changes are saved in the same transaction as the outcome."""
        return self._call.owner.runtime_properties

    @property
    def inputs(self) -> dict[str, Value]:
        """The evaluated inputs of the operation; the item has its own copy."""
        return self._call.inputs

    @property
    def settings(self) -> Mapping[str, Value]:
        """The package's settings in this deployment, including defaults; empty outside of tasks of packages."""
        return self._call.settings

    @property
    def instance_id(self) -> str:
        """Id of the node instance."""
        return self._call.owner.id

    @property
    def node_id(self) -> str:
        """The name of the instance's node."""
        return self._call.owner.node.name

    @property
    def deployment_id(self) -> str:
        """Name of the item's deployment; one batch may contain items of several deployments."""
        return self._call.site.deployment.id

    @property
    def execution_id(self) -> str:
        """Id of the execution that the item belongs to."""
        return self._call.site.execution.id

    @property
    def source(self) -> InstanceContext | None:
        """The source instance of a relationship operation, else None."""
        return self._call.source

    @property
    def target(self) -> InstanceContext | None:
        """The target instance of a relationship operation, else None."""
        return self._call.target

    @property
    def token(self) -> str:
        """A text that is equal for all attempts until a user retries the entry; for use as a cloud's client token."""
        return self._call.token

    @property
    def attempt(self) -> int:
        """The number of retries before this call."""
        return self._call.attempt

    @property
    def data(self) -> dict[str, Value]:
        """Data that an earlier call of this entry left for the next one; kept until the entry is completed."""
        call = self._call
        if not isinstance(call.data, dict):
            call.data = {}
        return call.data

    @property
    def decisions(self) -> Mapping[str, Value]:
        """The decisions of hooks for this instance."""
        call = self._call
        return call.site.execution.decisions.get(call.owner.id, {})

    @property
    def is_canceled(self) -> bool:
        """True when a user has canceled the item while it runs."""
        return self._call.is_canceled

    def secret(self, name: str) -> str:
        """Return the text of a secret, which the engine then masks in everything it writes.

        Raises: ``KeyError`` if the secret is unknown.
        """
        return self._call.world.secret(name)

    @property
    def log(self) -> ItemLog:
        """The log of the instance, which users can follow live: ``item.log.info("...")``."""
        return ItemLog(self._call)

    def complete(self, result: Value = None) -> None:
        """Mark the item as completed. ``result`` is stored; for ``check_drift`` it is the drift, None without drift."""
        self._batch._mark(self._place, OutcomeKind.COMPLETED, result=result)  # noqa: SLF001

    def fail(self, message: str, retry: bool = False) -> None:  # noqa: FBT001, FBT002 - the signature users know
        """Mark the item as failed; with ``retry`` it is tried again after the interval, if retries remain."""
        kind = OutcomeKind.RETRY if retry else OutcomeKind.FAILED
        self._batch._mark(self._place, kind, message)  # noqa: SLF001

    def again(self, after_s: float, message: str = "") -> None:
        """Ask for another call after ``after_s`` seconds. That is not a failure, and no thread waits for it."""
        self._batch._mark(self._place, OutcomeKind.AGAIN, message, milliseconds(after_s))  # noqa: SLF001

    def __repr__(self) -> str:
        return f"Item({self.instance_id!r})"


class ItemBatch:
    """The items of one call of a bulk function, as a sequence. They may be of several executions and deployments."""

    def __init__(self, count: int, call_at: Callable[[int], PluginCall], remembered: Sequence[int] = ()) -> None:
        """``call_at`` makes the call of the item with an index; it is called at most once for each item that is used.

        ``remembered`` has the indexes of items for which an earlier call left data.
        """
        self._count = count
        self._make = call_at
        self._remembered = remembered
        self._calls: dict[int, PluginCall] = {}
        self._kinds = bytearray(count)
        self._delays: dict[int, int] = {}
        self._messages: dict[int, str] = {}
        self._results: dict[int, Value] = {}
        self._follow_ups: dict[int, FollowUp] = {}
        self._is_open = True

    def __len__(self) -> int:
        """Return the number of items."""
        return self._count

    def __iter__(self) -> Iterator[Item]:
        """Yield all items in order."""
        for place in range(self._count):
            yield Item(self, place)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | list[Item]:
        """Return the item with an index, or a list of items for a slice."""
        places = range(self._count)[place]
        if isinstance(places, range):
            return [Item(self, number) for number in places]
        return Item(self, places)

    def complete(self, items: Iterable[Item] | None = None, result: Value = None) -> None:
        """Mark ``items``, or all items without a mark if it is None, as completed with the same ``result``."""
        for place in self._places(items):
            self._mark(place, OutcomeKind.COMPLETED, result=result)

    def fail(
        self,
        items: Iterable[Item] | None,
        message: str,
        retry: bool = False,  # noqa: FBT001, FBT002 - the signature users know
    ) -> None:
        """Mark ``items``, or all items without a mark if it is None, as failed; with ``retry``, to be tried again."""
        kind = OutcomeKind.RETRY if retry else OutcomeKind.FAILED
        for place in self._places(items):
            self._mark(place, kind, message)

    def again(self, items: Iterable[Item] | None, after_s: float, message: str = "") -> None:
        """Ask for another call after ``after_s`` seconds of ``items``, or of all items without a mark if it is None."""
        delay = milliseconds(after_s)
        for place in self._places(items):
            self._mark(place, OutcomeKind.AGAIN, message, delay)

    def _places(self, items: Iterable[Item] | None) -> Sequence[int]:
        if items is None:
            return [place for place, kind in enumerate(self._kinds) if kind == PENDING]
        return [item._place for item in items]  # noqa: SLF001

    def _mark(self, place: int, kind: OutcomeKind, message: str = "", delay_ms: int = -1, result: Value = None) -> None:
        if not self._is_open:
            return  # too late: the function has returned and its outcome was reported
        stored = None if result is None else require_storable(result, "the result")
        said = truncate(message, MAX_MESSAGE_CHARS) if message else ""
        self._kinds[place] = kind  # from here on nothing raises: what cannot be kept marks nothing
        if stored is not None:
            self._results[place] = stored
        else:
            self._results.pop(place, None)
        if said:
            self._messages[place] = said
        else:
            self._messages.pop(place, None)
        if delay_ms >= 0:
            self._delays[place] = delay_ms
        else:
            self._delays.pop(place, None)

    def follow(self, place: int, made: FollowUp) -> None:
        """Make something in the turn of the outcome of the item with this index (BB1)."""
        if self._is_open:
            self._follow_ups[place] = made

    def call_at(self, place: int) -> PluginCall:
        """Return the call of the item with this index, for functions of Phaseline itself."""
        return self._call_at(place)

    def _call_at(self, place: int) -> PluginCall:
        call = self._calls.get(place)
        if call is None:
            call = self._calls[place] = self._make(place)
        return call

    # -- for the executor ---------------------------------------------------------------------------------------

    def code(self, function: Callable[..., object]) -> Callable[[], object]:
        """Return a function that calls ``function`` with the batch if it is a bulk function, else with the item."""
        declaration = declaration_of(function)
        is_bulk = declaration is not None and declaration.bulk
        return partial(function, self) if is_bulk else partial(function, Item(self, 0))

    def settle(self, raised: BaseException | None) -> BulkOutcome:
        """Close the batch and return the outcomes of all items.

        Items without a mark are completed; if the function has ``raised``, they get the outcome for that exception.
        """
        import numpy as np  # a worker calls one member at a time, and starts in half the time without

        from phaseline.calls.protocol.reports import no_delays, same_kind

        self._is_open = False
        for place in self._remembered:
            self._call_at(place)  # its data is kept or goes, touched or not
        count = self._count
        if raised is None and not (self._messages or self._follow_ups) and self._kinds.count(PENDING) == count:
            return BulkOutcome(same_kind(COMPLETED_KIND, count), no_delays(count), {}, self._calls)  # the common case
        delays = np.full(count, -1, np.int64)
        kinds = np.frombuffer(bytearray(self._kinds), np.uint8)
        for place, delay in self._delays.items():
            delays[place] = delay
        shared = COMPLETED if raised is None else outcome_of(raised, hidden_frames=OUR_FRAMES)
        unmarked = kinds == PENDING
        kinds[unmarked] = int(shared.kind)
        if shared.delay_ms >= 0:
            delays[unmarked] = shared.delay_ms
        outcomes = {
            place: Outcome(OutcomeKind(int(kinds[place])), int(delays[place]), message)
            for place, message in self._messages.items()
        }
        outcomes.update({place: _with_result(result) for place, result in self._results.items()})
        if raised is not None:
            outcomes.update(dict.fromkeys(np.flatnonzero(unmarked).tolist(), shared))
        for place, made in self._follow_ups.items():
            plain = Outcome(OutcomeKind(int(kinds[place])), int(delays[place]))
            outcomes[place] = altered(outcomes.get(place, plain), follow_up=made)
        return BulkOutcome(kinds, delays, outcomes, self._calls)

    def settle_only(self, raised: BaseException | None) -> Outcome:
        """Close a batch of one item and return its outcome, like ``settle`` but without arrays."""
        self._is_open = False
        outcome = self._only(raised)
        made = self._follow_ups.get(0)
        return outcome if made is None else altered(outcome, follow_up=made)

    def _only(self, raised: BaseException | None) -> Outcome:
        kind = self._kinds[0]
        if kind == PENDING:
            return COMPLETED if raised is None else outcome_of(raised, hidden_frames=OUR_FRAMES)
        if kind == OutcomeKind.COMPLETED:
            return _with_result(self._results[0]) if self._results else COMPLETED
        return Outcome(OutcomeKind(kind), self._delays.get(0, -1), self._messages.get(0, ""))


def _with_result(result: Value) -> Outcome:
    return Outcome(OutcomeKind.COMPLETED, result=result)


class NativeCaller:
    """Calls a function that has the native declaration for one member, with an item or with a batch of one item."""

    def call(self, call: PluginCall) -> Outcome:
        """Call the function for the member and return its outcome; an exception becomes an outcome."""
        batch = ItemBatch(1, lambda _: call)
        _, raised = guarded_call(call_and_await, batch.code(call.load()))
        return batch.settle_only(raised)

    def gather(self, gathering: BulkCall) -> ItemBatch:
        """Return the batch that a bulk function gets as its argument."""
        return ItemBatch(gathering.count, gathering.call_at, gathering.remembered)
