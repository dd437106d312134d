"""Definitions from plugins: phases of states, listeners to states, and where their code is.

A phase plugin is a definition and a function. Whether it is written as a pair of files, with a decorator or as a
record, it is read as one ``PhaseDefinition``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.operation_declaration import LARGEST_BATCH
from phaseline.model.phases.phase_code import PhaseCode as PhaseCode  # noqa: PLC0414 - part of what a plugin defines
from phaseline.model.problems.problem import NOWHERE, Place, Problem

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

SLEEP_DELAY_S = 15.0
"""Default time (s) after which a pending resource is given to its phase again."""
OVERDUE_AFTER_S = 60.0
"""Time (s) after which a run is reported as overdue (decision 9)."""


class Attributes(Mapping[str, "Value"]):
    """Values by name, regardless of upper and lower case.

    A name keeps the form in which it was first written. Expressions are ``{"$expr": text}``.

    >>> found = Attributes({"Color": "blue"})
    >>> found["COLOR"], list(found), found == Attributes({"color": "blue"})
    ('blue', ['Color'], True)
    """

    __slots__ = ("_values",)

    def __init__(self, given: Mapping[str, Value] | Iterable[tuple[str, Value]] = ()) -> None:
        """If two names differ only in case, the value of the later one is used."""
        self._values: dict[str, tuple[str, Value]] = {}
        for name, value in given.items() if isinstance(given, Mapping) else given:
            key = name.lower()
            kept = self._values.get(key)
            self._values[key] = (name if kept is None else kept[0], value)

    def __getitem__(self, name: str) -> Value:
        """Return the value of an attribute; raise ``KeyError`` if there is none."""
        return self._values[name.lower()][1]

    def __contains__(self, name: object) -> bool:
        """Return True if there is an attribute with this name, in any case."""
        return isinstance(name, str) and name.lower() in self._values

    def __iter__(self) -> Iterator[str]:
        """Return the names as they were written."""
        return iter([name for name, _ in self._values.values()])

    def __len__(self) -> int:
        """Return the number of attributes."""
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        """Return True if names and values are equal, regardless of the case of names."""
        if not isinstance(other, Attributes):
            return NotImplemented
        return {key: value for key, (_, value) in self._values.items()} == {
            key: value for key, (_, value) in other._values.items()
        }

    def __hash__(self) -> int:
        """Return a hash of the names, in lower case."""
        return hash(frozenset(self._values))

    def __repr__(self) -> str:
        """Return the Python expression that creates an equal object."""
        return f"Attributes({dict(self._values.values())!r})"


NO_ATTRIBUTES = Attributes()


@frozen
class PhasePolicy:
    """How a phase is called. Times are in seconds; 0 means none unless stated otherwise.

    ``min_interval_s`` is the least time between the starts of two runs. ``batch_key`` and ``rate_limit_key`` are texts
    of expressions, or empty. Phases with a larger ``priority`` are called first. ``rate_limit`` is calls a second for
    each key. Resources that are due within ``coalesce_window_s`` may join a run early. ``retry_limit`` is how often a
    failure is retried automatically (-1: no limit). The breaker pauses the phase if the share ``breaker_share``
    (0.0-1.0) of the outcomes within its window are failures, and there are at least ``breaker_minimum`` outcomes; then
    one resource is tried.
    """

    sleep_delay_s: float = SLEEP_DELAY_S
    max_batch: int = LARGEST_BATCH
    min_interval_s: float = 0.0
    max_concurrency: int = 1
    coalesce_window_s: float = 0.0
    batch_key: str = ""
    priority: float = 0.0
    overdue_after_s: float = OVERDUE_AFTER_S
    run_timeout_s: float = 0.0
    timeout_s: float = 0.0
    retry_limit: int = 0
    retry_clears: bool = False
    backoff_base_s: float = SLEEP_DELAY_S
    backoff_factor: float = 2.0
    backoff_max_s: float = 3600.0
    backoff_jitter: float = 0.0
    on_batch_failure: Literal["fail", "bisect"] = "fail"
    rate_limit: float = 0.0
    rate_limit_burst: int = 1
    rate_limit_key: str = ""
    breaker_share: float = 0.0
    breaker_minimum: int = 10
    breaker_window_s: float = 60.0
    breaker_pause_s: float = 60.0


DEFAULT_POLICY = PhasePolicy()


@frozen
class PhaseDefinition:
    """One phase. Two phases are equal if they mean the same, wherever they are written and wherever their code is.

    ``providers`` empty means all. ``constraint`` is the text of an expression on one line, or empty; it reads the
    attributes ``constraint_names`` (lower case). ``attributes`` are all other ``Phase.X``. ``error`` is why the phase
    cannot be used; resources that need it wait (PD8). ``places`` is {attribute in lower case: where it is written}.
    """

    name: str
    plugin: str
    states: tuple[str, ...]
    resource_types: tuple[str, ...]
    providers: tuple[str, ...] = ()
    constraint: str = ""
    constraint_names: frozenset[str] = frozenset()
    dependencies: tuple[str, ...] = ()
    description: str = ""
    policy: PhasePolicy = DEFAULT_POLICY
    attributes: Attributes = NO_ATTRIBUTES
    version: str = ""
    error: str = ""
    code: PhaseCode | None = field(default=None, compare=False)
    package: str = field(default="", compare=False)
    where: Place = field(default=NOWHERE, compare=False)
    places: Mapping[str, Place] = field(default_factory=dict, compare=False)

    def place_of(self, attribute: str) -> Place:
        """Return the place where the attribute is written; the place of the phase if the attribute is not written."""
        return self.places.get(attribute.lower(), self.where)

    @property
    def key(self) -> str:
        """The name in lower case, by which phases are compared."""
        return self.name.lower()

    @property
    def is_valid(self) -> bool:
        """False if the phase has an error, so that it cannot be used."""
        return not self.error

    def takes_provider(self, provider: str | None) -> bool:
        """Return True if the phase is for resources with this provider (None: resources without a provider).

        >>> PhaseDefinition("P", "p", ("A",), ("T",), ("AWS",)).takes_provider("aws")
        True
        """
        if not self.providers:
            return True
        return provider is not None and provider.lower() in {known.lower() for known in self.providers}


@frozen
class ListenerDefinition:
    """A function that is called when resources reach a state. Empty ``states`` or ``resource_types`` mean all."""

    plugin: str
    states: tuple[str, ...] = ()
    resource_types: tuple[str, ...] = ()
    error: str = ""
    code: PhaseCode | None = field(default=None, compare=False)
    package: str = field(default="", compare=False)
    where: Place = field(default=NOWHERE, compare=False)


@frozen
class PhasePlugin:
    """One plugin of a package: a phase, a listener, both, or neither (code that others import).

    ``attributes``: its declared attributes that the engine does not use. ``problems``: errors and warnings.
    """

    name: str
    package: str
    phase: PhaseDefinition | None = None
    listener: ListenerDefinition | None = None
    is_disabled: bool = False
    version: str = ""
    attributes: Attributes = NO_ATTRIBUTES
    imports: tuple[str, ...] = ()
    code: PhaseCode | None = None
    where: Place = NOWHERE
    places: Mapping[str, Place] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def place_of(self, attribute: str) -> Place:
        """Return the place where the attribute is written; the place of the plugin if the attribute is not written."""
        return self.places.get(attribute.lower(), self.where)

    @property
    def kind(self) -> Literal["phase", "listener", "phase and listener", "code"]:
        """The kind of plugin, as messages name it."""
        if self.phase is not None:
            return "phase" if self.listener is None else "phase and listener"
        return "code" if self.listener is None else "listener"

    @property
    def errors(self) -> tuple[Problem, ...]:
        """Problems that are errors; a plugin with errors is not used."""
        return tuple(problem for problem in self.problems if problem.severity == "error")
