"""Reads the records that a package of phases may contain: ``Plugin``, ``ResourceType`` and ``StatePath``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.catalog.phases.definitions import WrittenDefinition
from phaseline.model.blueprint.state_paths import ResourceType, StatePath
from phaseline.model.problems.name_rules import MEND, shown_name, why_no_name
from phaseline.model.problems.problem import NOWHERE, Place, Problem
from phaseline.records.record import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.records.values import Stored

PLUGIN, RESOURCE_TYPE, STATE_PATH = "Plugin", "ResourceType", "StatePath"


def written_of(
    record: Record,
    place: Place = NOWHERE,
    *,
    places: Mapping[str, Place] | None = None,
    package: str = "",
    folders: tuple[str, ...] = (),
) -> WrittenDefinition:
    """Return the definition in a record of the type ``Plugin``; its attribute ``Code`` is ``module:function``.

    ``places`` is {attribute in lower case: its place in the file}.
    """
    code = record.stored("Code")
    module, _, function = code.partition(":") if isinstance(code, str) else ("", "", "")
    problems = []
    if not all(part.isidentifier() for part in (*module.split("."), function)):
        module = function = ""
        mend = 'write Code = "module:function"'
        at = (places or {}).get("code", place)
        problems.append(Problem("PL-D001", "the record has no Code", mend, at))
    name = record.stored("Name")
    shown = name if isinstance(name, str) and name else f"{module}.{function}"
    return WrittenDefinition(
        shown, record, place, places or {}, package, module, function, folders, None, tuple(problems)
    )


def type_of(record: Record, place: Place = NOWHERE) -> tuple[ResourceType | None, list[Problem]]:
    """Return (the resource type in a record or None if it is invalid, its problems)."""
    problems: list[Problem] = []
    name = _name(record, "Name", problems, place)
    parent = _name(record, "Parent", problems, place, is_needed=False)
    uses = record.stored("UsesProvider")
    if uses is not None and not isinstance(uses, bool):
        problems.append(_wrong("UsesProvider", "true or false", place))
    attributes = _list(record.stored("Attributes"))
    if attributes is None:
        problems.append(_wrong("Attributes", "a list of names", place))
    if parent and parent == name:
        problems.append(Problem("PL-D034", f"the type '{name}' is its own parent", "leave Parent out", place))
    return (None if problems else ResourceType(name, parent, attributes or (), bool(uses), place)), problems


def path_of(record: Record, place: Place = NOWHERE) -> tuple[StatePath | None, list[Problem]]:
    """Return (the state path in a record or None if it is invalid, its problems). Its last state is its target."""
    problems: list[Problem] = []
    owner = _name(record, "ResourceType", problems, place)
    target = _name(record, "TargetState", problems, place)
    states = _list(record.stored("States"))
    if not states:
        problems.append(_wrong("States", "a list of names", place))
    elif target and states[-1] != target:
        message = f"the path to '{target}' ends in '{states[-1]}'"
        problems.append(Problem("PL-D033", message, f'make "{target}" the last of States', place))
    elif len(set(states)) < len(states):
        problems.append(Problem("PL-D033", f"the path to '{target}' has a state twice", "name each state once", place))
    groups = record.stored("Groups")
    words = groups.to_dict() if isinstance(groups, Record) else {}
    if (groups is not None and not isinstance(groups, Record)) or not all(
        isinstance(word, str) for word in words.values()
    ):
        problems.append(_wrong("Groups", "a record of states and words", place))
    if problems:
        return None, problems
    return StatePath(owner, target, states or (), {state: str(word) for state, word in words.items()}, place), []


def _name(record: Record, attribute: str, problems: list[Problem], place: Place, *, is_needed: bool = True) -> str:
    value = record.stored(attribute)
    if isinstance(value, str) and value:
        why = why_no_name(value)
        if why:
            code = "PL-D033" if attribute in _OF_PATHS else "PL-D034"
            problems.append(Problem(code, f"the name '{shown_name(value)}' in {attribute} {why}", MEND, place))
        return value
    if is_needed or value is not None:
        problems.append(_wrong(attribute, "a name", place))
    return ""


def _list(value: Stored) -> tuple[str, ...] | None:
    items: Sequence[object] = value if isinstance(value, tuple) else () if value is None else (value,)
    return tuple(str(item) for item in items) if all(isinstance(item, str) and item for item in items) else None


def _wrong(attribute: str, expected: str, place: Place) -> Problem:
    return Problem(
        "PL-D033" if attribute in _OF_PATHS else "PL-D034",
        f"{attribute} is to be {expected}",
        f"give {expected}",
        place,
    )


_OF_PATHS = {"ResourceType", "TargetState", "States", "Groups"}
