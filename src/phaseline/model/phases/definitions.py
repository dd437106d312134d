"""What plugins define, as values: phases of states, listeners to states, and where their code is.

A phase plugin is a definition and a function. Whatever form it was written in (a pair of files, a decorator, a
record), it is one ``PhaseDefinition`` here.
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
"""The default delay after which a pending resource is handed over again."""
OVERDUE_AFTER_S = 60.0
"""The time after which a run is reported as overdue (decision 9)."""


class Attributes(Mapping[str, "Value"]):
    """Values by name; upper and lower case in names make no difference.

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
        """Return the value; ``KeyError`` where there is none."""
        return self._values[name.lower()][1]

    def __contains__(self, name: object) -> bool:
        """Return True where there is a value."""
        return isinstance(name, str) and name.lower() in self._values

    def __iter__(self) -> Iterator[str]:
        """Return the names as they were written."""
        return iter([name for name, _ in self._values.values()])

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        """Return the same names and values; the case of names does not matter."""
        if not isinstance(other, Attributes):
            return NotImplemented
        return {key: value for key, (_, value) in self._values.items()} == {
            key: value for key, (_, value) in other._values.items()
        }

    def __hash__(self) -> int:
        """By the names."""
        return hash(frozenset(self._values))

    def __repr__(self) -> str:
        """As it could be made again."""
        return f"Attributes({dict(self._values.values())!r})"


NO_ATTRIBUTES = Attributes()


@frozen
class PhasePolicy:
    """How a phase is called. Times in seconds; 0 means none unless stated otherwise.

    ``min_interval_s``: between the starts of two runs. ``batch_key``, ``rate_limit_key``: texts of expressions, or
    nothing. ``priority``: the larger is called first. ``rate_limit``: calls a second for each key. ``coalesce_window_s``: sleepers due so soon come
    along. ``retry_limit``: how often a failure is tried again by itself, -1: without end. ``breaker_share``: this part (0.0-1.0)
    of at least ``breaker_minimum`` outcomes within the window being failures pauses the phase; then one is tried.
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
    """One phase. Two are equal when they mean the same, wherever they were written and wherever their code is.

    ``providers`` empty: all. ``constraint``: the text of an expression on one line, empty: none; it asks for the
    attributes ``constraint_names`` (lower case). ``attributes``: every other ``Phase.X``. ``error``: why the phase cannot
    be used; resources that need it wait (PD8). ``places``: {attribute in lower case: where it is written}.
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
        """The form of the name that is compared: names that differ only in case are equal."""
        return self.name.lower()

    @property
    def is_valid(self) -> bool:
        """False if the phase has an error, so that it cannot be used."""
        return not self.error

    def takes_provider(self, provider: str | None) -> bool:
        """Return True if it is for a resource with this provider; None: the resource has none.

        >>> PhaseDefinition("P", "p", ("A",), ("T",), ("AWS",)).takes_provider("aws")
        True
        """
        if not self.providers:
            return True
        return provider is not None and provider.lower() in {known.lower() for known in self.providers}


@frozen
class ListenerDefinition:
    """A function that is called when resources reach a state. ``states``, ``resource_types`` empty: all."""

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
        """What it is to the engine."""
        if self.phase is not None:
            return "phase" if self.listener is None else "phase and listener"
        return "code" if self.listener is None else "listener"

    @property
    def errors(self) -> tuple[Problem, ...]:
        """Problems for which it is refused."""
        return tuple(problem for problem in self.problems if problem.severity == "error")
