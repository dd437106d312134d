"""Labels of deployments of the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager

from phaseline.model.blueprint.labels import Label, Relabelled


class MemoryLabels:
    """Labels of deployments in a store in memory: the methods of the port ``LabelShelf``."""

    def __init__(self, changing: Callable[[], AbstractContextManager[object]]) -> None:
        """``changing``: a context in which no other thread uses the stored data."""
        self._changing = changing
        self._rows: dict[int, set[Label]] = {}

    def of(self, deployment: int) -> Sequence[Label]:
        """Return the labels of a deployment, sorted by key and value."""
        return sorted(self._rows.get(deployment, ()))

    def with_key(self, key: str) -> Mapping[int, Sequence[Label]]:
        """Return {deployment: its labels with a key, sorted by value}, without deployments that have none."""
        found = {number: sorted(one for one in known if one.key == key) for number, known in self._rows.items()}
        return {number: labels for number, labels in found.items() if labels}

    def add(self, deployment: int, labels: Iterable[Label]) -> int:
        """Add labels to a deployment; return the number of those that it did not have."""
        with self._changing():
            known = self._rows.setdefault(deployment, set())
            new = set(labels) - known
            known |= new
            return len(new)

    def remove(self, deployment: int, labels: Sequence[Label]) -> int:
        """Remove labels from a deployment; return the number removed.

        A label with an empty value selects all of its key.
        """
        with self._changing():
            known = self._rows.get(deployment, set())
            gone = {label for label in known if label in labels or Label(label.key, "") in labels}
            known -= gone
            return len(gone)

    def write(self, changes: Iterable[tuple[int, Relabelled]]) -> None:
        """Write the label changes of a turn of the engine."""
        for deployment, change in changes:
            self.remove(deployment, change.removed)
            self.add(deployment, change.added)

    def having(self, labels: Sequence[Label]) -> frozenset[int]:
        """Return the deployments that have all these labels.

        A label with an empty value matches any value of its key.
        """
        return frozenset(
            number for number, known in self._rows.items() if all(_is_among(label, known) for label in labels)
        )

    def forget(self, kept: Collection[int]) -> None:
        """Remove the labels of deployments that are not in ``kept``, for a purge."""
        self._rows = {number: known for number, known in self._rows.items() if number in kept}


def _is_among(label: Label, known: set[Label]) -> bool:
    return label in known if label.value else any(each.key == label.key for each in known)
