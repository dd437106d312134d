"""The argument of a plugin's ``handle``: the resources to work on, and methods to report the outcome of each.

See section 3.1 of the CycleCloud document (source 1).
"""

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
    """The handler of one run of a phase.

    Marks take effect when ``handle`` has returned; later ones raise ``RunFinished``.

    An argument for resources may be one resource, or any iterable of resources. The CycleCloud document's names, such
    as ``setCompleted``, are aliases of the methods.
    """

    __slots__ = ("_run",)

    def __init__(self, run: PhaseRun) -> None:
        """Pass the plugin's calls to ``run``, the run that the plugin is called for."""
        self._run = run

    # -- resources ----------------------------------------------------------------------------------------------

    def get_resources(self) -> Series:
        """Return the resources of this run, the same objects at every call; changes of their attributes are saved."""
        self._run.check_open("getResources")
        return self._run.resources

    @property
    def resources(self) -> Series:
        """The resources of this run, as returned by ``get_resources()``."""
        return self.get_resources()

    def get_resource_phase_data(self, resource: Record, phase: str | None = None) -> Record:
        """Return the data that this phase keeps with the resource; with ``phase``, a read-only record of the data of
        that phase.
        """
        method = "getResourcePhaseData"
        self._run.check_open(method)
        found = self._run.one(resource, method)
        own = phase is None or phase.lower() == self._run.phase.name.lower()
        return found.entry if own or phase is None else found.entry_of(phase)

    def secret(self, name: str) -> str:
        """Return the text of a secret; from now on the engine masks this text in all it writes.

        Raises ``KeyError`` if unknown.
        """
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
        """Mark resources as pending: the plugin is called again for them later, as for resources without any mark.

        ``delay``: seconds until the next call for these resources, by default the run's delay (``set_sleep_delay``).
        """
        places = self._run.places(resources, "setSleeping")
        delay_ms = None if delay is None else _checked("setSleeping", delay)
        self._run.marks.sleep(places, delay_ms, _text(message))

    def set_sleep_delay(self, seconds: float | timedelta) -> None:
        """Set the time after which the plugin is called again for pending resources that have no delay of their own."""
        self._run.check_open("setSleepDelay")
        self._run.marks.sleep_ms = _checked("setSleepDelay", seconds)

    def set_message(self, resources: Given, message: str | None) -> None:
        """Set the progress message of resources; it is visible during the run."""
        self._run.tell(self._run.places(resources, "setMessage"), _text(message))

    # -- the subject of the run ---------------------------------------------------------------------------------

    def is_canceling(self, resource: Record) -> bool:
        """Return True if a user has canceled the work on this resource; the plugin may then end early."""
        self._run.check_open("isCanceling")
        return self._run.one(resource, "isCanceling").call.is_canceled

    def get_phase_name(self) -> str:
        """Return the name of the phase."""
        return self._run.phase.name

    def get_state(self) -> str:
        """Return the state of the resources.

        If the phase handles several states, read ``State`` of each resource instead.
        """
        return self._run.state

    def get_phase(self) -> Record:
        """Return the record of the phase, which is read-only."""
        phase = self._run.phase
        attributes = {"Name": phase.name, "Description": phase.name, **phase.attributes}
        made = Record({name: stored_of(value) for name, value in attributes.items()}, type_name="Cloud.Phase")
        made.freeze()
        return made

    # -- beside the marks ---------------------------------------------------------------------------------------

    def log(self, level: str, text: str, resource: Record | None = None) -> None:
        """Log a line for the resource, or for the whole run. ``level``: ``debug``, ``info``,
        ``warning`` or ``error``.
        """
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
        """Store the changes of the resource and of its phase data now, or of all resources if ``resource`` is None.

        When this returns, the changes are safe even if the process dies.
        """
        self._run.check_open("save")
        self._run.save(None if resource is None else [self._run.one(resource, "save")])

    def operation_token(self, resource: Record) -> str:
        """Return a token to pass to a cloud, so that it does not carry out a repeated request twice.

        It is equal for all calls of this phase with this resource until a user retries it.
        """
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
