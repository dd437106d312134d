"""Find deployments, executions and instances by a name or a unique beginning of an id."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from phaseline.lang import did_you_mean as lang_did_you_mean
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows import row_queries

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow
    from phaseline.ports.tenant_store import TenantStore

COMPARED = 1_000
"""Number of latest executions, or of instances, with whose ids a mistyped one is compared."""
LONGEST_NUMBER = 18
"""Largest number of digits in the number of an execution."""
NAMED = 5
"""Number of candidates that an error lists."""


def find_deployment(store: TenantStore, name: str, *, to_change: bool = False) -> DeploymentRow:
    """Return the deployment of this name, or the only one whose name begins with it.

    With ``to_change`` the whole name is required.

    Raises: PL-C010 if there is none, PL-C013 if several names begin with it.
    """
    found = store.deployment(name)
    if found is not None:
        return found
    fitting = store.listings.deployments(row_queries.DeploymentQuery(begins=name)) if name else ()
    rows = {row.name: row for row in fitting or store.deployments()}  # all of them only for the error
    beginning = next((other for other in sorted(rows) if name and other.startswith(name)), None)
    if to_change and beginning is not None:
        mend = f"write the whole name, which commands that change a deployment require; did you mean '{beginning}'?"
        raise problem_error("PL-C010", f"there is no deployment '{name}'", mend)
    if not rows:
        message = f"deployment '{name}' not found: the store has no deployments"
        raise problem_error("PL-C010", message, "install one first: phaseline install blueprint.yaml")
    whole = _only(name, rows, "deployment")
    if whole is None:
        hint = _near(name, rows) or f"there are: {listed(rows)}"
        raise problem_error("PL-C010", f"there is no deployment '{name}'", f"correct the name; {hint}")
    return rows[whole]


def find_execution(
    store: TenantStore, id: str | None, deployment: str | None, *, to_change: bool = False
) -> ExecutionRow:
    """Return the execution of this id, or the latest of a deployment, or the latest of the only deployment.

    A unique beginning of the id or name is enough, except with ``to_change``.

    Raises: PL-C011 if there is none, PL-C013 if several ids begin with this text, PL-C018 if neither an id nor a
    deployment is given and there are several deployments.
    """
    if id is not None:
        row = store.execution(id)
        return row if row is not None else _by_prefix(store, id, to_change=to_change)
    if deployment is None:
        names = [row.name for row in store.listings.deployments(row_queries.DeploymentQuery(limit=2))]
        if not names and store.listings.executions(row_queries.ExecutionQuery(limit=1)):
            raise problem_error("PL-C018", "which execution?", "give its id; see them with: phaseline executions list")
        if not names:
            raise problem_error("PL-C011", "there is no execution yet", "start one: phaseline install blueprint.yaml")
        if len(names) != 1:
            raise problem_error("PL-C018", "which execution?", "give its id, or -d NAME for the latest of a deployment")
        deployment = names[0]
    found = find_deployment(store, deployment, to_change=to_change)
    latest = row_queries.ExecutionQuery(deployments=(found.number,), is_latest_first=True, limit=1)
    rows = store.listings.executions(latest)
    if not rows:
        mend = f"run it: phaseline install {found.blueprint_file} -d {found.name}"
        raise problem_error("PL-C011", f"the deployment '{found.name}' has no execution", mend)
    return rows[0]


def find_instance(store: TenantStore, id: str, deployment: str | None) -> tuple[DeploymentRow, Topology, int]:
    """Return (deployment, its topology, instance number) of an instance id or its beginning.

    If ``deployment`` is None, all deployments are searched.

    Raises: PL-C012 if there is none, PL-C013 if several ids begin so.
    """
    row, whole = find_instance_id(store, id, deployment)
    topology = store.topology(row.number)
    return row, topology, topology.number_of[whole]


def find_instance_id(store: TenantStore, id: str, deployment: str | None) -> tuple[DeploymentRow, str]:
    """Return (deployment, whole id) of an instance id or its beginning. Raises: as ``find_instance``."""
    if deployment is not None:
        row = find_deployment(store, deployment)
        roster = store.listings.rosters([row.number])[row.number]
        ids: dict[str, DeploymentRow] = dict.fromkeys(roster.ids, row)
        nodes = set(roster.nodes)
    else:
        ids = {found: row for row, some in reversed(store.listings.with_ids(id)) for found in some} if id else {}
        nodes = set()
    if id in ids:
        return ids[id], id
    whole = _only(id, ids, "instance")
    if whole is None:
        if deployment is None:
            some = store.listings.with_ids("", limit=COMPARED)
            ids, nodes = {found: row for row, more in some for found in more}, store.listings.node_names()
        hint = _near(id, list(ids)[:COMPARED]) or _near(id.rpartition("_")[0], nodes)
        mend = f"correct the id; {hint}" if hint else "see the ids with: phaseline instances list"
        raise problem_error("PL-C012", f"there is no instance '{id}'", mend)
    return ids[whole], whole


def _by_prefix(store: TenantStore, id: str, *, to_change: bool) -> ExecutionRow:
    fitting = store.listings.executions(row_queries.ExecutionQuery(begins=id)) if id and not to_change else ()
    rows = {row.id: row for row in fitting}
    whole = _only(id, rows, "execution")
    if whole is None:
        same = [row.id for row in store.listings.executions(row_queries.ExecutionQuery(numbers=_numbers(id)))]
        latest = store.listings.executions(row_queries.ExecutionQuery(is_latest_first=True, limit=COMPARED))
        rows = {row.id: row for row in latest}
        hint = f"did you mean '{same[0]}'?" if same else _near(id, rows)
        if store.deployment(id) is not None:
            hint = f"'{id}' is a deployment: its latest execution is selected with -d {id}"
        mend = f"correct the id; {hint}" if hint else "see the ids with: phaseline executions list"
        raise problem_error("PL-C011", f"there is no execution '{id}'", mend)
    return rows[whole]


def _numbers(id: str) -> tuple[int, ...]:
    """Return (number,) if an execution's id is written as its number alone, without the workflow; otherwise ()."""
    is_number = id.isascii() and id.isdecimal() and len(id) < LONGEST_NUMBER and str(int(id)) == id
    return (int(id),) if is_number else ()


def _near(word: str, known: Collection[str]) -> str:
    return lang_did_you_mean.did_you_mean(word, known)


def _only(beginning: str, known: Iterable[str], noun: str) -> str | None:
    """Return the only known text with this beginning, or None if there is none. Raises PL-C013 for several."""
    fitting = [text for text in known if beginning and text.startswith(beginning)]
    if len(fitting) > 1:
        message = f"'{beginning}' is the beginning of {len(fitting)} {noun}s: {listed(fitting)}"
        raise problem_error("PL-C013", message, "write more characters")
    return fitting[0] if fitting else None


def listed(names: Iterable[str]) -> str:
    """Return the first few names in order, and the number of the other names, as text."""
    ordered: Sequence[str] = sorted(names)
    more = f" and {len(ordered) - NAMED} more" if len(ordered) > NAMED else ""
    return ", ".join(ordered[:NAMED]) + more
