"""The scope of a function: everything that it may look up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from phaseline.model.blueprint.blueprint import Value


class NotYetKnown(Exception):
    """A scope cannot know a value before run time; the function stays as it is written."""


class SecretLookup(Protocol):
    """Values that are kept apart, by name."""

    def get(self, name: str) -> str:
        """The value of a secret. Raises ``KeyError`` for one that does not exist."""
        ...

    def missing(self, names: Collection[str]) -> Sequence[str]:
        """The names among ``names`` for which no secret exists."""
        ...


class EvaluationWatcher(Protocol):
    """Observes each function, from before its arguments are evaluated until it has a result."""

    def begin(self) -> bool:
        """A function begins; the returned value is passed back when it ends."""
        ...

    def end(self, before: bool, name: str, result: Value) -> None:  # noqa: FBT001 - handed back as it came
        """It has its result."""
        ...


class Scope(Protocol):
    """Everything that a function can look up. Values of running instances are unknown before run time: ``NotYetKnown``."""

    @property
    def watcher(self) -> EvaluationWatcher | None:
        """The observer of functions evaluated in this scope."""
        ...

    @property
    def is_running(self) -> bool:
        """False while a deployment is made."""
        ...

    @property
    def own_name(self) -> str | None:
        """The node that SELF means, if any."""
        ...

    def input(self, name: str) -> Value:
        """The value of an input of the deployment. Raises ``KeyError`` for one that is not declared."""
        ...

    def node(self, reference: str) -> tuple[Mapping[str, Value], Scope]:
        """Properties of a node (its name, SELF, SOURCE or TARGET) and the scope in which they are to be read."""
        ...

    def attribute(self, reference: str, path: Sequence[str | int]) -> Value:
        """A runtime attribute of one instance (B42)."""
        ...

    def attributes(self, reference: str, paths: Sequence[Sequence[str | int]]) -> Mapping[str, Sequence[Value]]:
        """{instance id: the attributes that the paths lead to} of all instances of a node, null where there is none."""
        ...

    def instances_of(self, node: str) -> Sequence[Mapping[str, Value]]:
        """``id``, ``index`` and ``runtime_properties`` of each instance of a node."""
        ...

    def secret(self, name: str) -> str:
        """The value of a secret."""
        ...

    def label(self, key: str) -> Sequence[Value]:
        """The values of a label of the deployment."""
        ...

    def system(self, entity: str, name: str) -> Value:
        """A property of the deployment or its tenant."""
        ...

    def elsewhere(self, function: str, arguments: Value) -> Value:
        """What other deployments know."""
        ...


def descend(value: Value, path: Sequence[str | int]) -> tuple[Value, Sequence[str | int]]:
    """(what ``path`` leads to, the steps that could not be taken).

    >>> descend({"a": [1, 2]}, ["a", 1])
    (2, [])
    >>> descend({"a": 1}, ["b"])
    ({'a': 1}, ['b'])
    """
    for place, step in enumerate(path):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and (index := index_of(step)) is not None and index < len(value):
            value = value[index]
        else:
            return value, path[place:]
    return value, []


def index_of(step: str | int) -> int | None:
    """The place in a list that a step means, or None.

    >>> index_of("3"), index_of(-1), index_of("x")
    (3, None, None)
    """
    if isinstance(step, int):
        return step if step >= 0 else None
    return int(step) if step.isdecimal() and len(step) < 10 else None


def shown(step: str | int) -> str:
    """A step of a path in words."""
    return f"index {step}" if isinstance(step, int) else f"key '{step}'"
