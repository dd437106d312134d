"""Labels of deployments of the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager

from phaseline.model.blueprint.labels import Label, Relabelled
from phaseline.store.memory.tenant_rows import MemoryTenantRows


class MemoryLabels:
    """Labels of deployments in a store in memory: the methods of the port ``LabelShelf``."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[object]],
        own: MemoryTenantRows,
        whole: MemoryLabels | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of all tenants."""
        self._changing = changing
        self._own = own
        self.rows: dict[int, set[Label]] = {} if whole is None else whole.rows
        """{deployment: its labels} of all tenants."""

    def of(self, deployment: int) -> Sequence[Label]:
        """Return the labels of a deployment, sorted by key and value."""
        return sorted(self.rows.get(self._own.deployment(deployment), ()))

    def of_many(self, deployments: Sequence[int]) -> Mapping[int, Sequence[Label]]:
        """Return {deployment: its labels, sorted by key and value}, without deployments that have none."""
        found = {number: self.of(number) for number in deployments}
        return {number: labels for number, labels in found.items() if labels}

    def with_key(self, key: str) -> Mapping[int, Sequence[Label]]:
        """Return {deployment: its labels with a key, sorted by value}, without deployments that have none."""
        mine = [(number, known) for number, known in self.rows.items() if self._own.deployment(number) == number]
        found = {number: sorted(one for one in known if one.key == key) for number, known in mine}
        return {number: labels for number, labels in found.items() if labels}

    def add(self, deployment: int, labels: Iterable[Label]) -> int:
        """Add labels to a deployment; return the number of those that it did not have."""
        with self._changing():
            self._own.require(self._own.deployment(deployment), "deployment")
            known = self.rows.setdefault(deployment, set())
            new = set(labels) - known
            known |= new
            return len(new)

    def remove(self, deployment: int, labels: Sequence[Label]) -> int:
        """Remove labels from a deployment; return the number removed.

        A label with an empty value selects all of its key.
        """
        with self._changing():
            known = self.rows.get(self._own.deployment(deployment), set())
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
            number
            for number, known in list(self.rows.items())
            if self._own.deployment(number) == number and all(_is_among(label, known) for label in labels)
        )

    def forget(self, kept: Collection[int]) -> None:
        """Remove the labels of deployments that are not in ``kept``, for a purge."""
        for number in [number for number in self.rows if number not in kept]:
            del self.rows[number]


def _is_among(label: Label, known: set[Label]) -> bool:
    return label in known if label.value else any(each.key == label.key for each in known)
