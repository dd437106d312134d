"""The scope of a function: all values that the function may look up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from phaseline.model.blueprint.blueprint import Value


class NotYetKnown(Exception):
    """Raised by a scope for a value that is unknown before run time; the function then stays unevaluated."""


class SecretLookup(Protocol):
    """Gives access to secrets by name."""

    def get(self, name: str) -> str:
        """Return the value of a secret. Raises ``KeyError`` if it does not exist."""
        ...

    def missing(self, names: Collection[str]) -> Sequence[str]:
        """Return those of ``names`` for which no secret exists."""
        ...


class EvaluationWatcher(Protocol):
    """Observes each function: ``begin`` before its arguments are evaluated, ``end`` when its result is known."""

    is_touched: bool
    """True once a secret was read."""

    def touch(self) -> None:
        """Note that a secret was read, such as one from which a capability of another deployment was computed."""
        ...

    def begin(self) -> bool:
        """Note the beginning of a function. The returned value is passed to ``end`` as ``before``."""
        ...

    def end(self, before: bool, name: str, result: Value) -> None:  # noqa: FBT001 - handed back as it came
        """Note the result of the function ``name``. ``before`` is what ``begin`` returned for it."""
        ...


class Scope(Protocol):
    """All values that a function can look up. Raises ``NotYetKnown`` for values of instances before run time."""

    @property
    def watcher(self) -> EvaluationWatcher | None:
        """Return the observer of functions evaluated in this scope, or None."""
        ...

    @property
    def is_running(self) -> bool:
        """Return False while a deployment is made, True afterwards."""
        ...

    @property
    def own_name(self) -> str | None:
        """Return the node that SELF means, or None."""
        ...

    def input(self, name: str) -> Value:
        """Return an input of the deployment. Raises ``KeyError`` if it is not declared."""
        ...

    def node(self, reference: str) -> tuple[Mapping[str, Value], Scope]:
        """Return the properties of a node (or of SELF, SOURCE, TARGET), and the scope in which to evaluate them."""
        ...

    def attribute(self, reference: str, path: Sequence[str | int]) -> Value:
        """Return the value at ``path`` among the runtime properties of one instance, to which ``reference`` (a node,
        SELF, SOURCE or TARGET) leads (B42).
        """
        ...

    def attributes(self, reference: str, paths: Sequence[Sequence[str | int]]) -> Mapping[str, Sequence[Value]]:
        """Return {instance id: values at ``paths``} from the runtime properties of all instances of a node; a missing
        value is None.
        """
        ...

    def instances_of(self, node: str) -> Sequence[Mapping[str, Value]]:
        """Return ``id``, ``index`` and ``runtime_properties`` of each instance of a node."""
        ...

    def secret(self, name: str) -> str:
        """Return the value of a secret."""
        ...

    def label(self, key: str) -> Sequence[Value]:
        """Return the values of a label of the deployment."""
        ...

    def system(self, entity: str, name: str) -> Value:
        """Return a property of the deployment or of its tenant."""
        ...

    def elsewhere(
        self,
        function: str,
        arguments: Value,
        inner: Callable[[Value, Scope], Value] | None = None,
        written: Mapping[str, Value] | None = None,
    ) -> Value:
        """Return the value of a function that reads other deployments, such as ``get_capability``.

        ``arguments`` are evaluated; ``written`` is the function as the blueprint has it. ``inner`` evaluates a value that
        the function needs, and counts how deeply functions are nested.
        """
        ...


def descend(value: Value, path: Sequence[str | int]) -> tuple[Value, Sequence[str | int]]:
    """Follow keys and indexes into a value. Return (the last value found, the steps that could not be taken).

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
    """Return the list index that a step of a path means, or None if it cannot be an index.

    >>> index_of("3"), index_of(-1), index_of("x")
    (3, None, None)
    """
    if isinstance(step, int):
        return step if step >= 0 else None
    return int(step) if step.isdecimal() and len(step) < 10 else None


def shown(step: str | int) -> str:
    """Return a step of a path as words, such as ``key 'port'``."""
    return f"index {step}" if isinstance(step, int) else f"key '{step}'"
