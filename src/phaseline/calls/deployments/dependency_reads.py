"""Which deployments a deployment reads, and which read it: records, and labels of parents (DP5, DP6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.calls.deployments.other_deployments import environment_of
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.blueprint.labels import PARENT_LABEL, Label
from phaseline.model.rows import row_queries
from phaseline.model.rows.dependencies import ConsumerRecord, Dependency

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.ports.tenant_store import StoreRows


class ProviderRead(NamedTuple):
    """What a deployment reads of a provider: ``name`` is "" if it is not known yet; ``row`` is None if there is none."""

    dependency: Dependency
    name: str
    row: DeploymentRow | None


def short_place(creator: str) -> str:
    """Return a place of a blueprint as node and property or input, or unchanged if it belongs to no node.

    >>> short_place("nodes.web.properties.ip"), short_place("nodes.web.operations.a.b.create.inputs.url")
    ('web.ip', 'web.url')
    >>> short_place("outputs.url"), short_place("csys-obj-parent")
    ('outputs.url', 'csys-obj-parent')
    """
    section, _, rest = creator.partition(".")
    if section != "nodes":
        return creator
    for between in (".properties.", ".inputs."):
        node, found, key = rest.partition(between)
        if found:
            return f"{node.partition('.')[0]}.{key}"
    return rest


def read_by(store: StoreRows, row: DeploymentRow) -> list[ProviderRead]:
    """Return what a deployment reads of its providers, in the order of its blueprint, and then its parents."""
    labels = store.labels.of(row.number)
    found = []
    for one in store.dependencies.of(row.number):
        if one.number:
            rows = store.listings.deployments(row_queries.DeploymentQuery(numbers=(one.number,)))
            found.append(ProviderRead(one, rows[0].name if rows else "", rows[0] if rows else None))
        else:
            name = one.provider or ((environment_of(store, labels) or "") if one.kind == "environment" else "")
            found.append(ProviderRead(one, name, store.deployment(name) if name else None))
    for label in labels:
        if label.key == PARENT_LABEL:
            found.append(
                ProviderRead(
                    Dependency("parent", PARENT_LABEL, provider=label.value), label.value, store.deployment(label.value)
                )
            )
    return found


def readers_of(store: StoreRows, row: DeploymentRow, *, page: int = 1_000) -> Iterator[Sequence[ConsumerRecord]]:
    """Yield the records about a deployment in pages of at most ``page`` consumers; its children come last.

    A child has a record of kind ``parent``, and those of its functions that read its environment.
    """
    after = 0
    while found := store.dependencies.on(row.number, after=after, limit=page):
        yield found
        after = found[-1].consumer
    children = [one for one in children_of(store, row) if one.number != row.number]
    for start in range(0, len(children), page):
        yield [
            ConsumerRecord(child.number, child.name, one)
            for child in children[start : start + page]
            for one in _of_child(store, row, child)
        ]


def children_of(store: StoreRows, row: DeploymentRow) -> Sequence[DeploymentRow]:
    """Return the deployments whose label ``csys-obj-parent`` names this one."""
    return store.listings.deployments(row_queries.DeploymentQuery(labels=(Label(PARENT_LABEL, row.name),)))


def _of_child(store: StoreRows, row: DeploymentRow, child: DeploymentRow) -> Iterator[Dependency]:
    yield Dependency("parent", PARENT_LABEL, provider=row.name)
    if environment_of(store, store.labels.of(child.number)) == row.name:
        yield from (one for one in store.dependencies.of(child.number) if one.kind == "environment")
