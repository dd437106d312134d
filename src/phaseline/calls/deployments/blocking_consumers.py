"""Refuse an execution that would touch what a living deployment reads of this one (DP7, DP8).

Checked when a user asks for the execution, and again when it begins, because a consumer may have come meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, cast

import numpy as np

from phaseline.calls.deployments.dependency_reads import readers_of, short_place
from phaseline.calls.deployments.estate.inner_deployments import made_below
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.problems.problem import Place, Problem, ProblemsError
from phaseline.model.rows.deployment_summaries import GONE
from phaseline.plan.requests.touched import instances_behind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.dependencies import ConsumerRecord
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.ports.tenant_store import StoreRows

REFUSED = "PL-C131"
"""Code of the refusal."""
NAMED = 200
"""Most consumers that a refusal names; it only mentions that there are more."""
SHOWN = 5
"""Most consumers in the text of a refusal; ``details`` has all that are named."""
PAGE = 200
"""Number of consumers that are read at once."""
NOTHING_ELSE: Collection[int] = frozenset()
_GONE = frozenset(state.word for state in GONE)


class Consumer(NamedTuple):
    """A living deployment that reads what would be touched, and where its blueprint does (node and property)."""

    name: str
    places: tuple[str, ...]

    def __str__(self) -> str:
        """Return such as ``app (web.ip)``."""
        return f"{self.name} ({', '.join(self.places)})"


class Touch(NamedTuple):
    """What an execution touches: ``instances`` (bool by number), or all if None; ``blueprint``: the one after an update.

    With ``is_whole``, any touch counts as one of everything that others read, as in Cloudify.
    """

    instances: np.ndarray | None
    blueprint: Blueprint | None = None
    is_whole: bool = False


def blocking(
    store: StoreRows,
    row: DeploymentRow,
    topology: Topology,
    touch: Touch,
    *,
    besides: Collection[int] = NOTHING_ELSE,
    outer: int = 0,
) -> list[Consumer]:
    """Return the living deployments that read what an execution of the deployment ``row`` would touch, at most ``NAMED``.

    ``besides`` are numbers of deployments that do not count, because they are taken away with it. ``outer`` is the number
    of the deployment whose Component has started the execution. It does not count either, nor does any deployment that
    Components of it or of ``row`` have made.
    """
    reads = _Reads(topology, touch)
    if reads.is_nothing:
        return []
    found: dict[int, Consumer] = {}
    for page in readers_of(store, row, page=PAGE):
        places: dict[int, list[str]] = {}
        names: dict[int, str] = {}
        for record in page:
            if record.consumer not in besides and reads.is_touched(record):
                places.setdefault(record.consumer, []).append(short_place(record.dependency.creator))
                names[record.consumer] = record.name
        living = _living(store, [number for number in places if number not in found and number != outer])
        inner = made_below(store, living, (row.number, outer)) if living else NOTHING_ELSE
        for number in (number for number in living if number not in inner):
            found[number] = Consumer(names[number], tuple(dict.fromkeys(places[number])))
        if len(found) >= NAMED:
            break
    return list(found.values())[:NAMED]


def raise_if_read(row: DeploymentRow, consumers: Sequence[Consumer], what: str) -> None:
    """Raise PL-C131 if there are consumers. ``what`` is what was asked for, such as ``uninstall``."""
    if consumers:
        raise ProblemsError([refusal(row, consumers, what)])


def refusal(row: DeploymentRow, consumers: Sequence[Consumer], what: str) -> Problem:
    """Return PL-C131, which names the consumers."""
    more = len(consumers) - SHOWN
    at_least = "at least " if len(consumers) == NAMED else ""
    listed = ", ".join(map(str, consumers[:SHOWN])) + (f" and {at_least}{more} more" if more > 0 else "")
    count = f"{at_least}{len(consumers)} other deployment{'s' * (len(consumers) != 1)}"
    verb = "reads" if len(consumers) == 1 else "read"
    message = f"'{row.name}' is not ready for {what}: {count} {verb} what it would touch: {listed}"
    mend = f"uninstall them first: phaseline uninstall -d {consumers[0].name}; or do it although they read it: --force"
    details = {"consumers": [{"deployment": one.name, "places": list(one.places)} for one in consumers]}
    return Problem(REFUSED, message, mend, Place(subject=row.name), details=details)


def told(consumers: Sequence[Consumer]) -> str:
    """Return the consumers as the text that is stored with a forced execution, at most ``NAMED``."""
    return ", ".join(map(str, consumers))


class _Reads:
    """Decides whether a record of a consumer reads what is touched."""

    def __init__(self, topology: Topology, touch: Touch) -> None:
        self._topology, self._touch = topology, touch
        self._known: dict[str, bool] = {}
        instances = touch.instances
        there = topology.is_there
        self._is_all = instances is None or touch.is_whole or bool((instances | ~there[: len(instances)]).all())
        self._is_any = instances is None or touch.is_whole or bool(instances.any())

    @property
    def is_nothing(self) -> bool:
        """True if nothing is touched."""
        return not self._is_any and self._touch.blueprint is None

    def is_touched(self, record: ConsumerRecord) -> bool:
        """Return True if the record reads an instance, or a capability, that is touched."""
        one = record.dependency
        if one.kind == "parent":
            return self._is_all
        if one.kind not in {"capability", "environment"}:
            return self._is_any
        known = self._known.get(one.function)
        if known is None:
            known = self._known[one.function] = self._is_capability_touched(capability_of(one.function))
        return known

    def _is_capability_touched(self, name: str) -> bool:
        declared = self._topology.blueprint.capabilities.get(name)
        after = None if self._touch.blueprint is None else self._touch.blueprint.capabilities
        if after is not None and (declared is None or name not in after or after[name].value != declared.value):
            return True
        if self._is_all or declared is None or not self._is_any:
            return self._is_any
        behind = instances_behind(self._topology, declared.value)
        instances = self._touch.instances
        return True if behind is None or instances is None else bool((behind[: len(instances)] & instances).any())


def capability_of(function: str) -> str:
    """Return the name of the capability that a function reads, or "" if it is computed."""
    (argument,) = cast("Mapping[str, Value]", json.loads(function)).values() if function else (None,)
    if isinstance(argument, list):
        is_environment = function.startswith('{"get_environment_capability"')
        place = 0 if is_environment else 1
        argument = argument[place] if len(argument) > place else None
    return argument if isinstance(argument, str) else ""


def _living(store: StoreRows, numbers: Sequence[int]) -> list[int]:
    """Return those of the deployments of which an instance is installed, or may be."""
    summaries = store.listings.summaries(list(numbers)) if numbers else {}
    return [number for number in numbers if number in summaries and set(summaries[number].states) - _GONE]
