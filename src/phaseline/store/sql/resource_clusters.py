"""Data of clusters: added resources, state names, paused phases and measurements; in the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from phaseline.model.blueprint.blueprint import Blueprint, Value
from phaseline.model.blueprint.labels import labels_of
from phaseline.model.deployment.topology import Topology
from phaseline.model.resources.resources import ResourceAddition, grown
from phaseline.model.rows.rows import Actor, Metric, PausedRow, Reshaped
from phaseline.store.codec import topologies
from phaseline.store.codec.json_documents import EMPTY, to_text
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.sql import errors as failures
from phaseline.store.sql import labels
from phaseline.store.sql.read_model import changes as read_model
from phaseline.store.sql.read_model import summaries

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

MAX_NAMES = 192
"""Largest number of state names in a deployment.

A state is stored as a byte, and the lower numbers are the states of node instances.
"""

_THIS_PHASE = "tenant = ? and lower(name) = ?"


def grow(db: Connection, deployment: int, growth: ResourceAddition, topology: Topology) -> None:
    """Append resources to a cluster's ``topology``, which was read in this transaction.

    Raises: ``OutgrownError`` if other resources were added since ``growth`` was made.
    """
    more = grown(topology, growth)
    _replace(db, deployment, more, more.blueprint if more.blueprint is not topology.blueprint else None)
    add_documents(db, deployment, growth.documents)
    summaries.refresh(db, [deployment])


def add_documents(db: Connection, deployment: int, documents: Mapping[int, Mapping[str, Value]]) -> None:
    """Store the initial runtime properties of new instances, {instance number: properties}."""
    texts = ((number, to_text(dict(body))) for number, body in documents.items())
    db.executemany(
        "insert into document values (?, ?, 1, ?)",
        [(deployment, number, text) for number, text in texts if text != EMPTY],
    )


def reshape(db: Connection, row: Reshaped) -> None:
    """Store the new topology of a deployment, and whatever else has changed with it."""
    _replace(db, row.deployment, row.topology, row.blueprint)
    if row.blueprint is not None:
        from phaseline.store.sql.estate.schedules import sync_schedules  # few changes bring a blueprint

        sync_schedules(db, row.deployment, row.blueprint.deployment_settings)
    if row.inputs is not None:
        db.execute("update blueprint set inputs = ? where deployment = ?", (to_text(dict(row.inputs)), row.deployment))
    if row.code is not None:
        db.execute(
            "update deployment set blueprint_folder = ?, plugin_folders = ?, imported = ? where number = ?",
            (row.code.blueprint_folder, to_text(row.code.plugin_folders), to_text(row.code.imported), row.deployment),
        )
    if row.uses is not None:
        db.execute("delete from blueprint_use where deployment = ?", (row.deployment,))
        rows = [(row.deployment, namespace, blueprint) for namespace, blueprint in row.uses.items()]
        db.executemany("insert into blueprint_use values (?, ?, ?)", rows)


def _replace(db: Connection, deployment: int, topology: Topology, blueprint: Blueprint | None) -> None:
    """Replace the stored topology of a deployment, and its blueprint unless ``blueprint`` is None."""
    if blueprint is not None:
        body = topologies.blueprint_to_text(blueprint)
        db.execute("update blueprint set body = ? where deployment = ?", (body, deployment))
        told = (blueprint.file, blueprint.description, deployment)
        db.execute("update deployment set blueprint_file = ?, description = ? where number = ?", told)
        labels.add_labels(db, deployment, labels_of(blueprint.labels))
    assigned = ", ".join(f"{name} = ?" for name in topologies.COLUMNS)
    row = topologies.to_row(topology, topology.blueprint)
    db.execute(f"update topology set {assigned}, version = version + 1 where deployment = ?", (*row, deployment))
    read_model.replace_topology(db, deployment, topology, topologies.ids_in(row))
    db.execute("update deployment set instance_count = ? where number = ?", (len(topology), deployment))


def version(db: Connection, deployment: int) -> int:
    """Return how many times the deployment's topology was replaced."""
    found = db.execute("select version from topology where deployment = ?", (deployment,)).fetchone()
    if found is None:
        raise LookupError(f"no deployment {deployment}")
    return int(found[0])


def count(db: Connection, deployment: int) -> int:
    """Return the number of instances of a deployment, including removed ones."""
    found = db.execute("select instance_count from deployment where number = ?", (deployment,)).fetchone()
    if found is None:
        raise LookupError(f"no deployment {deployment}")
    return int(found[0])


def state_names(db: Connection, deployment: int) -> tuple[str, ...]:
    """Return the names of a deployment's resource states, in the order of their numbers."""
    rows = db.execute("select name from state_name where deployment = ? order by place", (deployment,))
    return tuple(name for (name,) in rows)


def name_states(db: Connection, deployment: int, names: Iterable[str]) -> tuple[str, ...]:
    """Append missing state names and return all of the deployment's. Raises: PL-S011 if there are too many."""
    known = state_names(db, deployment)
    missing = missing_names(known, names)
    rows = [(deployment, place, name) for place, name in enumerate(missing, len(known))]
    db.executemany("insert into state_name values (?, ?, ?)", rows)
    return (*known, *missing)


def missing_names(known: Sequence[str], names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the names that are not in ``known``. Raises: PL-S011 if there would be too many."""
    missing = tuple(name for name in dict.fromkeys(names) if name not in known)
    if len(known) + len(missing) > MAX_NAMES:
        raise failures.too_many_states("", len(known) + len(missing), MAX_NAMES)
    return missing


def pause(db: Connection, name: str, actor: Actor, reason: str, at: int) -> bool:
    """Pause a phase for the user's tenant. Return False if it was already paused; then its actor and reason stay."""
    if db.execute(f"select 1 from paused_phase where {_THIS_PHASE}", (actor.tenant, name.lower())).fetchone():
        return False
    added = "insert into paused_phase (tenant, name, at, actor, reason) values (?, ?, ?, ?, ?)"
    db.execute(added, (actor.tenant, name, at, actor.name, reason))
    return True


def unpause(db: Connection, name: str, tenant: str) -> bool:
    """End a tenant's pause of a phase. Return False if the phase was not paused."""
    return db.execute(f"delete from paused_phase where {_THIS_PHASE}", (tenant, name.lower())).rowcount == 1


def know(db: Connection, known: Mapping[str, str]) -> None:
    """Replace the stored list of known phases by ``known``: {name in lower case: its definition as JSON}."""
    db.execute("delete from known_phase")
    db.executemany("insert into known_phase values (?, ?)", known.items())


def known(db: Connection) -> Mapping[str, str]:
    """Return {name in lower case: definition} of the stored phases, sorted by name."""
    return dict(db.execute("select name, known from known_phase order by name"))


def measure(db: Connection, measures: Sequence[Metric]) -> None:
    """Store measurements, each in place of the former one of its name."""
    values = [(one.name, one.at, to_text(dict(one.body))) for one in measures]
    db.executemany(
        """insert into measure (name, at, body) values (?, ?, ?)
        on conflict (name) do update set at = excluded.at, body = excluded.body""",
        values,
    )


def measures(db: Connection) -> Mapping[str, Metric]:
    """Return the latest figures that engines measured: {name of a phase's figures or of the engine's: figures}, by name."""
    return metrics_from(db.execute("select name, at, body from measure order by name"))


def metrics_from(rows: Iterable[tuple[str, int, str]]) -> dict[str, Metric]:
    """Return {name: figures} of rows (name, time, figures as JSON)."""
    found = {}
    for name, at, body in rows:
        with suppress(ValueError):  # unreadable figures are measured again
            found[name] = Metric(name, at, json.loads(body))
    return found


def paused(db: Connection, own: TenantRows = ALL) -> Mapping[str, PausedRow]:
    """Return {name of a paused phase in lower case: its pause}, sorted by name; of several tenants' the earliest."""
    where, values = own.where("true")
    rows = db.execute(
        f"select name, at, actor, reason from paused_phase where {where} order by lower(name), at desc", values
    )
    return {row[0].lower(): PausedRow(*row) for row in rows}
