"""Labels of deployments, set by their blueprint and by users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from phaseline.lang.fast_dataclasses import altered
from phaseline.lang.fast_namedtuples import NamedTuple

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Blueprint, Value

PARENT = "csys-obj-parent"
"""Key of the label that names the deployment to which another one belongs (W24)."""
OBJECT_TYPE = "csys-obj-type"
"""Key of the label with the type of a deployment: ``environment``, or any other word for a service."""


PARENT_LABEL = "csys-obj-parent"
"""Key of the label that names the deployment to which another one belongs."""


class Label(NamedTuple):
    """One label: a key with one value. A key may have several values, each as a label."""

    key: str
    value: str


class Relabelled(NamedTuple):
    """A change of a deployment's labels: removals are applied first, then additions."""

    added: tuple[Label, ...] = ()
    removed: tuple[Label, ...] = ()


def changed(labels: Sequence[Label], change: Relabelled) -> list[Label]:
    """Return the labels after a change, sorted by key and value.

    >>> changed([Label("team", "web")], Relabelled((Label("team", "ops"),), (Label("team", ""),)))
    [Label(key='team', value='ops')]
    """
    kept = {
        one for one in labels if not any(one.key == key and value in {"", one.value} for key, value in change.removed)
    }
    return sorted(kept | set(change.added))


class LabelShelf(Protocol):
    """Storage of the labels of deployments. Any process may write; every method is one transaction."""

    def of(self, deployment: int) -> Sequence[Label]:
        """Return the labels of a deployment, sorted by key and value."""
        ...

    def of_many(self, deployments: Sequence[int]) -> Mapping[int, Sequence[Label]]:
        """Return {deployment: its labels, sorted by key and value}, without deployments that have none."""
        ...

    def with_key(self, key: str) -> Mapping[int, Sequence[Label]]:
        """Return {deployment: its labels with a key, sorted by value}, without deployments that have none."""
        ...

    def add(self, deployment: int, labels: Sequence[Label]) -> int:
        """Add labels to a deployment and return how many of them are new."""
        ...

    def remove(self, deployment: int, labels: Sequence[Label]) -> int:
        """Remove labels and return how many were removed.

        A label with an empty value removes all values of its key.
        """
        ...

    def having(self, labels: Sequence[Label]) -> frozenset[int]:
        """Return the deployments that have all of these labels.

        A label with an empty value matches any value of its key.
        """
        ...


def labels_of(written: Mapping[str, Sequence[Value]]) -> Iterator[Label]:
    """Yield the labels of a blueprint that are known when the deployment is made.

    Values that are still functions are left out.
    """
    for key, values in written.items():
        yield from (Label(key, value) for value in values if isinstance(value, str))


def labelled(blueprint: Blueprint, kept: Sequence[Label]) -> Blueprint:
    """Return the blueprint with its labels replaced by those that the store keeps for its deployment (``kept``)."""
    if not kept and not blueprint.labels:
        return blueprint
    return altered(blueprint, labels=with_labels(blueprint.labels, kept))


def with_labels(written: Mapping[str, Sequence[Value]], kept: Sequence[Label]) -> dict[str, Sequence[Value]]:
    """Return {key: values} as intrinsic functions see them: the stored labels (``kept``), and values that are functions.

    >>> with_labels({"team": ["web", {"get_secret": "x"}]}, [Label("team", "ops")])
    {'team': ['ops', {'get_secret': 'x'}]}
    """
    found: dict[str, list[Value]] = {}
    for label in kept:
        found.setdefault(label.key, []).append(label.value)
    for key, values in written.items():
        waiting = [value for value in values if not isinstance(value, str)]
        if waiting:
            found.setdefault(key, []).extend(waiting)
    return dict(found)
