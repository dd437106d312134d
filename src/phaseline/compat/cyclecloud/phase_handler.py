"""The argument of ``handle``: resources to work on, and methods to report the outcome of each (section 3.1)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from phaseline.compat.cyclecloud.handler_misuse import HandlerMisuse, wrong_delay
from phaseline.compat.cyclecloud.resource import stored_of
from phaseline.compat.cyclecloud.resource_marks import milliseconds
from phaseline.records.record import Record

if TYPE_CHECKING:
    from phaseline.compat.cyclecloud.phase_cache import PhaseCache
    from phaseline.compat.cyclecloud.phase_run import PhaseRun
    from phaseline.records.series import Series

    Given = Record | Iterable[Record]

LEVELS = ("debug", "info", "warning", "error")


class PhaseHandler:
    """One run of a phase. Marks count when ``handle`` has returned; later ones raise ``RunFinished``.

    Arguments for resources accept one, or any iterable of them. The names of the source document are aliases.
    """

    __slots__ = ("_run",)

    def __init__(self, run: PhaseRun) -> None:
        """The run behind it."""
        self._run = run

    # -- resources ----------------------------------------------------------------------------------------------

    def get_resources(self) -> Series:
        """Return the resources of this run, the same objects at every call; changes of their attributes are saved."""
        self._run.check_open("getResources")
        return self._run.resources

    @property
    def resources(self) -> Series:
        """The same as ``get_resources()``."""
        return self.get_resources()

    def get_resource_phase_data(self, resource: Record, phase: str | None = None) -> Record:
        """The data that this phase keeps with the resource, readable and writable; of another ``phase``, read-only."""
        method = "getResourcePhaseData"
        self._run.check_open(method)
        found = self._run.one(resource, method)
        own = phase is None or phase.lower() == self._run.phase.name.lower()
        return found.entry if own or phase is None else found.entry_of(phase)

    def secret(self, name: str) -> str:
        """Return the text of a secret; the engine masks it in all its output from now on. ``KeyError`` if there is none."""
        self._run.check_open("secret")
        return self._run.call_at(0).world.secret(name)

    # -- marks --------------------------------------------------------------------------------------------------

    def set_completed(self, resources: Given, message: str | None = None) -> None:
        """Mark resources as completed: they are done with this phase."""
        self._run.marks.complete(self._run.places(resources, "setCompleted"), _text(message))

    def set_failed(self, resources: Given, message: str | None = None) -> None:
        """Mark resources as failed until a user retries them; the message is for that user."""
        self._run.marks.fail(self._run.places(resources, "setFailed"), _text(message))

    def set_sleeping(
        self, resources: Given, delay: float | timedelta | None = None, message: str | None = None
    ) -> None:
        """Mark resources as pending, as those without a mark are; with a delay of their own if one is given, in seconds."""
        places = self._run.places(resources, "setSleeping")
        delay_ms = None if delay is None else _checked("setSleeping", delay)
        self._run.marks.sleep(places, delay_ms, _text(message))

    def set_sleep_delay(self, seconds: float | timedelta) -> None:
        """Set the time after which pending resources without their own delay are called again."""
        self._run.check_open("setSleepDelay")
        self._run.marks.sleep_ms = _checked("setSleepDelay", seconds)

    def set_message(self, resources: Given, message: str | None) -> None:
        """Set the progress message of resources; it is visible during the run."""
        self._run.tell(self._run.places(resources, "setMessage"), _text(message))

    # -- the subject of the run ---------------------------------------------------------------------------------

    def is_canceling(self, resource: Record) -> bool:
        """True as soon as the user no longer wants this call; the plugin may end early."""
        self._run.check_open("isCanceling")
        return self._run.one(resource, "isCanceling").call.is_canceled

    def get_phase_name(self) -> str:
        """The name of the phase."""
        return self._run.phase.name

    def get_state(self) -> str:
        """The state of the resources; in a phase of several states, read ``State`` of each."""
        return self._run.state

    def get_phase(self) -> Record:
        """The record of the phase, read-only."""
        phase = self._run.phase
        attributes = {"Name": phase.name, "Description": phase.name, **phase.attributes}
        made = Record({name: stored_of(value) for name, value in attributes.items()}, type_name="Cloud.Phase")
        made.freeze()
        return made

    # -- beside the marks ---------------------------------------------------------------------------------------

    def log(self, level: str, text: str, resource: Record | None = None) -> None:
        """Log a line (levels ``debug info warning error``) for the resource, or for the run."""
        self._run.check_open("log")
        if level.lower() not in LEVELS:
            raise HandlerMisuse(
                "PL-O033", f"log() was given the level {level!r:.60}", f"give it one of {', '.join(LEVELS)}"
            )
        if resource is None:
            self._run.gathering.say(level.lower(), text)
        else:
            self._run.one(resource, "log").call.log(level.lower(), text)

    def save(self, resource: Record | None = None) -> None:
        """Store the changes of the resource and its phase data, None: of all resources, before it returns."""
        self._run.check_open("save")
        self._run.save(None if resource is None else [self._run.one(resource, "save")])

    def operation_token(self, resource: Record) -> str:
        """A token for clouds, equal for all calls of this phase with this resource until a user retries it."""
        self._run.check_open("operationToken")
        return self._run.one(resource, "operationToken").call.token

    @property
    def cache(self) -> PhaseCache:
        """The cache of the plugin for later runs of this phase in this process."""
        return self._run.cache

    getResources, getResourcePhaseData = get_resources, get_resource_phase_data
    setCompleted, setFailed, setSleeping = set_completed, set_failed, set_sleeping
    setSleepDelay, setMessage, isCanceling = set_sleep_delay, set_message, is_canceling
    getPhaseName, getState, getPhase, operationToken = get_phase_name, get_state, get_phase, operation_token


def _text(message: str | None) -> str:
    return "" if message is None else str(message)


def _checked(method: str, delay: float | timedelta) -> int:
    found = milliseconds(delay)
    if found is None:
        raise wrong_delay(method, delay)
    return found
