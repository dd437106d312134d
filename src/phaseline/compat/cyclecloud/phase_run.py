"""One run of a phase plugin: its resources, the plugin's marks on them, and their effects when the run ends (R1 to
R14).
"""

from __future__ import annotations

import inspect
import random
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.batches.bulk_call import BulkOutcome
from phaseline.calls.protocol.call import Outcome, outcome_of, truncate
from phaseline.calls.protocol.phase_view import PhaseContext
from phaseline.calls.protocol.plugin_boundary import message_of, milliseconds
from phaseline.calls.threads.guarded_calls import guarded_call
from phaseline.compat.cyclecloud.find_handler import NOBODY_KNOWS, Sought, finder_of
from phaseline.compat.cyclecloud.handler_misuse import NotInRun, RunFinished
from phaseline.compat.cyclecloud.phase_handler import PhaseHandler
from phaseline.compat.cyclecloud.resource import PhaseResource, message_before
from phaseline.compat.cyclecloud.resource_marks import FAILED, UNMARKED, Marks
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.operation_declaration import declaration_of
from phaseline.model.graph.graph import LANE_PREFIX
from phaseline.model.graph.plugin_errors import NonRecoverableError, RecoverableError
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.phases.phase_data import PHASE_DATA, phases_in
from phaseline.records.record import Record
from phaseline.records.series import Series

if TYPE_CHECKING:
    from phaseline.calls.batches.bulk_call import BulkCall
    from phaseline.calls.protocol.call import InstanceContext, PluginCall
    from phaseline.calls.protocol.phase_view import SecondTries
    from phaseline.compat.cyclecloud.phase_cache import PhaseCache

    Given = Record | Iterable[Record]

AGAIN = OutcomeKind.AGAIN
MAX_MESSAGE_CHARS = 4_096
"""Largest length of an entry's message; a longer text is complete in the log only (PD54)."""
OUR_FRAMES = 3
"""Number of Phaseline's own frames at the beginning of a traceback, which are omitted.

These are the frames of ``guarded_call``, ``call_and_await`` and ``code``.
"""


class PhaseRun:
    """One call of a plugin with its resources.

    It implements ``Together`` for the executor, which makes the call, and ``ResourceRun`` for the resources, which look
    up their data here.
    """

    def __init__(
        self, gathering: BulkCall, cache_of: Callable[[str], PhaseCache], is_new: Callable[[object], bool]
    ) -> None:
        """Prepare the run. ``cache_of``: returns the cache of a phase by its name.

        ``is_new``: returns True at the first call for a function, so that only one warning about its ignored return
        value is logged.
        """
        self.gathering = gathering
        self.lock = threading.RLock()
        self.marks = Marks(gathering.count)
        self._cache_of = cache_of
        self._is_new = is_new
        self._calls: dict[int, PluginCall] = {}
        self._touched: list[PhaseResource] = []
        self._told: set[int] = set()
        self._unmarked = AGAIN
        self._unsure: set[int] = set()
        self.find_raised: BaseException | None = None
        self._is_open = True
        self._made: tuple[PhaseResource, ...] | None = None
        self.resources = Series.later(gathering.count, self._members)

    @cached_property
    def phase(self) -> PhaseContext:
        """The phase of this run. If the plugin implements an operation, this is a phase with the operation's name."""
        site = self.call_at(0).site
        return site.phase or PhaseContext(site.operation.removeprefix(LANE_PREFIX))

    @property
    def state(self) -> str:
        """The state of the resources; if the phase handles several states, the state of the first resource."""
        return self.phase.state or self.call_at(0).owner.state

    @property
    def cache(self) -> PhaseCache:
        """The cache of this phase's plugin in this process."""
        return self._cache_of(self.phase.name)

    def call_at(self, place: int) -> PluginCall:
        """Return the call of the member at a position; it is made on first use."""
        call = self._calls.get(place)
        if call is None:
            with self.lock:
                call = self._calls.get(place)
                if call is None:
                    call = self._calls[place] = self.gathering.call_at(place)
        return call

    def touched(self, resource: PhaseResource) -> None:
        """Note that this resource may have changes, which must be applied when the run ends."""
        self._touched.append(resource)

    def _members(self) -> tuple[PhaseResource, ...]:
        """Return a resource for each member.

        They are made on first use: a plugin that marks all at once needs none of them.
        """
        with self.lock:
            if self._made is None:
                self._made = tuple([PhaseResource(self, place) for place in range(self.gathering.count)])
            return self._made

    # -- for the handler ----------------------------------------------------------------------------------------

    def check_open(self, method: str) -> None:
        """Raise ``RunFinished`` if the run has ended."""
        if not self._is_open:
            raise RunFinished(method)

    def one(self, given: object, method: str) -> PhaseResource:
        """Return ``given`` if it is a resource of this run. Raises ``NotInRun`` otherwise."""
        if isinstance(given, PhaseResource) and given.run is self:
            return given
        raise NotInRun(method, given)

    def places(self, given: Given, method: str) -> Sequence[int]:
        """Return the positions of the given resource or resources in this run.

        Raises ``NotInRun`` if one does not belong to it.
        """
        self.check_open(method)
        if given is self.resources and not self.gathering.doubted:
            return range(self.gathering.count)
        if isinstance(given, Record) or not isinstance(given, Iterable):
            return [self.one(given, method).place]
        return [self.one(each, method).place for each in given]

    def tell(self, places: Iterable[int], message: str) -> None:
        """Set the progress messages of resources, and show them to users at once."""
        for place in places:
            call = self.call_at(place)
            shown = truncate(message, MAX_MESSAGE_CHARS)
            self.marks.messages[place] = shown
            self._told.add(place)
            call.data = {"message": shown}
            call.tell(shown)

    def save(self, resources: Iterable[PhaseResource] | None = None) -> None:
        """Store the changes of these resources, or of all if None, and wait until they are safe if the process dies
        (X4).
        """
        found = list(self._touched) if resources is None else list(resources)
        changed = [resource for resource in found if resource.is_changed]
        for resource in changed:
            resource.save(wait=resource is changed[-1])

    # -- for the executor ---------------------------------------------------------------------------------------

    def code(self, function: Callable[..., object]) -> Callable[[], object]:
        """Return a function that calls the plugin: ``handle(handler)``, or ``handle_one(resource, data)`` for one
        resource (X14).
        """
        declaration = declaration_of(function)
        arguments: tuple[object, ...] = (PhaseHandler(self),)
        if declaration is not None and not declaration.bulk:
            resource = self._at(0)
            arguments = (resource, resource.entry)
            self._unmarked = OutcomeKind.COMPLETED  # it has no handler with which to mark it
        if inspect.iscoroutinefunction(function):

            async def awaited() -> None:
                """Resolve interrupted calls, then call the plugin's coroutine function and await its result."""
                self._settle_doubts(function)
                if len(self.resources):
                    self._ignore(function, await function(*arguments))

            return awaited

        def called() -> object:
            self._settle_doubts(function)
            if not len(self.resources):
                return None
            returned = function(*arguments)
            if not inspect.iscoroutine(returned):
                self._ignore(function, returned)
                return None
            return returned

        return called

    def _settle_doubts(self, function: Callable[..., object]) -> None:
        """Let the plugin's ``find(items)`` resolve interrupted calls; the handler then gets the remaining resources."""
        finder = finder_of(function) if self.gathering.doubted else None
        if finder is None:
            return
        items = {place: Sought(self._at(place), self.phase.name) for place in self.gathering.doubted}
        _, raised = guarded_call(finder, list(items.values()))
        if raised is not None:
            self.find_raised = raised
            self.gathering.say("warning", f"find(items) raised {text_of(raised)}: items without an answer stay unsure")
        for place, item in items.items():
            _, refused = guarded_call(item.keep)
            if refused is not None:
                self.gathering.say("warning", f"what find(items) gave for {item.name} is refused: {text_of(refused)}")
                item.unknown()
            if item.answer == "exists":
                self.marks.complete([place])
            elif item.answer == "unknown":
                self._unsure.add(place)
        settled = {place for place, item in items.items() if item.answer in {"exists", "unknown"}}
        self.resources = Series(self._at(place) for place in range(self.gathering.count) if place not in settled)

    def _at(self, place: int) -> PhaseResource:
        return self._members()[place]

    def _ignore(self, function: object, returned: object) -> None:
        """Warn, once for each function, that its return value is ignored (R14)."""
        if returned is not None and self._is_new(function):
            text = f"the plugin returned {returned!r:.100}, which means nothing: mark resources with the handler"
            self.gathering.say("warning", text)

    def settle(self, raised: BaseException | None) -> BulkOutcome:
        """End the run and return the outcomes; from now on the handler and the resources accept no marks or changes.

        ``raised``: the exception that the plugin raised, or None.
        """
        self._is_open = False
        raised = _understood(raised)
        failed = self._lay_over()
        for place in self.gathering.remembered:
            self.call_at(place)
        kinds, delays = self.marks.settle(raised, sleep_ms=self.phase.sleep_delay_ms, unmarked=self._unmarked)
        messages = self._messages(raised, kinds.tolist())
        outcomes: dict[int, Outcome] = {}
        if raised is not None:
            error = outcome_of(raised, hidden_frames=OUR_FRAMES).error
            failing = Outcome(OutcomeKind.FAILED, message=truncate(text_of(raised), MAX_MESSAGE_CHARS), error=error)
            is_own = self.marks.marks
            outcomes = {
                place: failing
                for place, kind in enumerate(kinds.tolist())
                if kind == OutcomeKind.FAILED and is_own[place] != FAILED
            }
        for place, message in messages.items():
            kind = OutcomeKind(int(kinds[place]))
            outcomes[place] = Outcome(kind, int(delays[place]), truncate(message, MAX_MESSAGE_CHARS))
            if kind is AGAIN and message:
                self.call_at(place).data = {"message": outcomes[place].message}
            if kind is OutcomeKind.FAILED and len(message) > MAX_MESSAGE_CHARS:
                self.call_at(place).log("error", message)
        for place in self._unsure:
            kinds[place], outcomes[place] = OutcomeKind.UNSURE, Outcome(OutcomeKind.UNSURE, message=NOBODY_KNOWS)
        for place in self.marks.contradicted:
            self.call_at(place).log("warning", "marked as completed and as failed in one run: it has failed")
        for place, outcome in failed.items():
            kinds[place], delays[place], outcomes[place] = outcome.kind, outcome.delay_ms, outcome
        is_final = isinstance(raised, NonRecoverableError)
        fallen = [place for place, outcome in outcomes.items() if outcome.error and place not in failed]
        if self.phase.second_tries is not None and not is_final:
            self._try_again(self.phase.second_tries, kinds, delays, outcomes, failed)
        self._let_go()
        return BulkOutcome(kinds, delays, outcomes, self._calls, fallen if self.phase.halves and not is_final else ())

    def _let_go(self) -> None:
        """Drop the references to the resources.

        Resources and run refer to each other, so otherwise only the garbage collector would free them.
        """
        self.resources, self._made, self._touched = Series(()), None, []

    def _try_again(
        self,
        tries: SecondTries,
        kinds: np.ndarray,
        delays: np.ndarray,
        outcomes: dict[int, Outcome],
        lost: Mapping[int, Outcome],
    ) -> None:
        """Turn failures into retries after a delay, except for ``lost`` resources, whose changes could not be applied.

        The scheduler counts the retries and fails a resource when none remain (X2).
        """
        for place in np.flatnonzero(kinds == OutcomeKind.FAILED).tolist():
            if place in lost:
                continue
            call = self.call_at(place)
            kinds[place], delays[place] = OutcomeKind.RETRY, tries.delay_ms(call.attempt, random.random())
            before = outcomes.get(place, Outcome(OutcomeKind.RETRY))
            outcomes[place] = altered(before, kind=OutcomeKind.RETRY, delay_ms=int(delays[place]))
            if tries.clears:
                forget(call.owner, self.phase.name)

    def settle_only(self, raised: BaseException | None) -> Outcome:
        """End a run of one resource, and return its outcome."""
        return self.settle(raised).outcome_at(0)

    def _messages(self, raised: BaseException | None, kinds: list[int]) -> dict[int, str]:
        """Return {position: message}; an empty message removes an earlier one.

        Resources that failed because the plugin raised an exception are not included.
        """
        own, marks = self.marks.messages, self.marks.marks
        found = {
            place: own.get(place, "")
            for place in (*own, *self._told, *self.gathering.remembered)
            if kinds[place] != OutcomeKind.FAILED or marks[place] == FAILED
        }
        for place in self.gathering.remembered:
            if kinds[place] == AGAIN and place in found and not found[place]:
                found[place] = message_before(self.call_at(place))
        said = message_of(raised) if isinstance(raised, RecoverableError) else ""
        if said:
            found.update({place: said for place, mark in enumerate(marks) if mark == UNMARKED})
        return found

    def _lay_over(self) -> dict[int, Outcome]:
        """Apply the plugin's changes to the instances' documents.

        Return {position: outcome} of the resources for which this fails (R13).
        """
        failed: dict[int, Outcome] = {}
        for resource in self._touched:
            resource.end()
            _, error = guarded_call(resource.lay_over)
            if error is not None:
                failed[resource.place] = altered(outcome_of(error), kind=OutcomeKind.FAILED, delay_ms=-1)
        return failed


def _understood(raised: BaseException | None) -> BaseException | None:
    """Return the plugin's exception, or, if it asks for a retry with an invalid delay, the error about the delay."""
    after = getattr(raised, "retry_after", None) if isinstance(raised, RecoverableError) else None
    wrong = None if after is None else guarded_call(milliseconds, after)[1]
    return wrong or raised


def forget(view: InstanceContext, phase: str) -> None:
    """Remove the data that a phase keeps with an instance, including data written in this run."""
    root = (PHASE_DATA, phase)
    written, removed = view.changes or ({}, ())
    kept = {path: value for path, value in written.items() if path[:2] != root}
    gone = [path for path in removed if path[:2] != root]
    if phase in phases_in(view.world.document(view)):
        gone.append(root)
    view.change(kept, gone)


def text_of(error: BaseException) -> str:
    """Return the message of an entry that failed because of an exception (R6).

    >>> text_of(ValueError("no such size")), text_of(KeyError())
    ('ValueError: no such size', 'KeyError')
    """
    text, name = message_of(error), type(error).__name__
    return f"{name}: {text}" if text else name
