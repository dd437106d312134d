"""Integrity check of a store, which changes nothing.

Rows are compared with one another, then every packed value is unpacked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.model.graph.status import PAGE_ENTRIES, EntryStatus, ExecutionStatus
from phaseline.model.health.checks import CheckKind
from phaseline.model.rows.maintenance import StoreFinding
from phaseline.model.rows.rows import RequestKind
from phaseline.store.codec import graphs, topologies
from phaseline.store.codec.columns import decode
from phaseline.store.database.schema import IS_OPEN
from phaseline.store.relational.list_integrity import RULES, contradictions
from phaseline.store.sql.content_files import unpacked
from phaseline.store.sql.queries import PLACES, places_of

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

_GRAPHS = "(select id from graph union all select number from remains where kind = 'graph')"
_EXECUTIONS = "(select number from execution union all select number from remains where kind = 'execution')"
_DEPLOYMENTS = "(select number from deployment union all select number from remains where kind = 'deployment')"
_STATUSES = ", ".join(f"'{status.value}'" for status in ExecutionStatus)
_CHECKS = ", ".join(str(int(kind)) for kind in CheckKind)
_KINDS = ", ".join(f"'{kind.value}'" for kind in RequestKind)


def _page_length(number: str, count: str) -> str:
    left = f"{count} - {number} * {PAGE_ENTRIES}"
    return f"(case when {left} < 0 then 0 when {left} > {PAGE_ENTRIES} then {PAGE_ENTRIES} else {left} end)"


def _is_no_json(column: str) -> str:
    return f"not (json_valid({column}) or can_be_read({column}))"


_RULES: tuple[tuple[str, str, str], ...] = (
    (
        "blueprint",
        "belong to no deployment",
        f"select deployment from blueprint where deployment not in {_DEPLOYMENTS}",
    ),
    ("topology", "belong to no deployment", f"select deployment from topology where deployment not in {_DEPLOYMENTS}"),
    (
        "deployment",
        "have no blueprint",
        "select name from deployment where number not in (select deployment from blueprint)",
    ),
    (
        "deployment",
        "have no topology",
        "select name from deployment where number not in (select deployment from topology)",
    ),
    (
        "state_page",
        "belong to no deployment",
        f"select deployment || ', page ' || number from state_page where deployment not in {_DEPLOYMENTS}",
    ),
    (
        "state_page",
        "do not fit the number of instances",
        f"""select name || ', page ' || state_page.number from state_page
        join deployment on deployment.number = state_page.deployment
        left join topology on topology.deployment = state_page.deployment
        where length(states) > {_page_length("state_page.number", "instance_count")} or (
        kind <> 'resources' and coalesce(topology.version, 0) = 0 and length(states) < {_page_length("state_page.number", "instance_count")})""",
    ),
    (
        "check_page",
        "belong to no deployment",
        f"select deployment || ', page ' || number from check_page where deployment not in {_DEPLOYMENTS}",
    ),
    (
        "check_page",
        "are no pages of results",
        f"""select deployment || ', page ' || number from check_page
        where length(results) <> {PAGE_ENTRIES} or kind not in ({_CHECKS})""",
    ),
    (
        "check_body",
        "belong to no deployment, or are no JSON",
        f"""select deployment || ', subject ' || subject from check_body
        where deployment not in {_DEPLOYMENTS} or {_is_no_json("body")}""",
    ),
    (
        "document",
        "belong to no instance",
        f"""select document.deployment || ', instance ' || instance from document
        left join deployment on deployment.number = document.deployment
        where document.deployment not in {_DEPLOYMENTS} or instance < 0 or instance >= instance_count""",
    ),
    (
        "document",
        "are no JSON",
        f"select deployment || ', instance ' || instance from document where {_is_no_json('body')}",
    ),
    (
        "plan",
        "belong to no deployment, or are no JSON",
        f"""select 'plan-' || number from plan where deployment not in {_DEPLOYMENTS}
        or {_is_no_json("request")} or {_is_no_json("base")} or {_is_no_json("body")}""",
    ),
    ("execution", "belong to no deployment", f"select id from execution where deployment not in {_DEPLOYMENTS}"),
    ("execution", "have an unknown status", f"select id from execution where status not in ({_STATUSES})"),
    ("execution", "have a request that is no JSON", f"select id from execution where {_is_no_json('request')}"),
    (
        "execution",
        "are open but have an end, or the reverse",
        f"select id from execution where ({IS_OPEN}) <> (ended_at = 0)",
    ),
    (
        "state_name",
        "belong to no deployment",
        f"select deployment || ', ' || name from state_name where deployment not in {_DEPLOYMENTS}",
    ),
    ("graph", "belong to no execution", f"select id from graph where execution not in {_EXECUTIONS}"),
    ("page", "belong to no graph", f"select graph || ', page ' || number from page where graph not in {_GRAPHS}"),
    (
        "page",
        "do not fit the number of entries",
        f"""select graph || ', page ' || number from page join graph on graph.id = page.graph
        where length(statuses) <> {_page_length("number", "entry_count")}""",
    ),
    (
        "note",
        "belong to no entry",
        f"""select graph || ', entry ' || position from note left join graph on graph.id = note.graph
        where graph not in {_GRAPHS} or position < 0 or position >= entry_count""",
    ),
    (
        "batch",
        "are outside of the range of their execution",
        """select batch.id from batch join graph on graph.id = first_graph join execution on number = execution
        where batch.id <= after_batch or (last_batch > 0 and batch.id > last_batch)""",
    ),
    ("log", "belong to no execution", f"select execution from log where execution not in {_EXECUTIONS}"),
    ("event", "belong to no execution", f"select execution from event where execution not in {_EXECUTIONS}"),
    (
        "request",
        "belong to no execution",
        f"select number from request where execution <> 0 and execution not in {_EXECUTIONS}",
    ),
    (
        "request",
        "are not understood",
        f"select number from request where kind not in ({_KINDS}) or {_is_no_json('body')}",
    ),
    (
        "stored_path",
        "belong to no stored blueprint",
        "select blueprint from stored_path where blueprint not in (select number from stored_blueprint)",
    ),
    (
        "stored_path",
        "have no content",
        "select blueprint || ', ' || path from stored_path where content not in (select digest from stored_content)",
    ),
    (
        "stored_blueprint",
        "have not all their files",
        """select id || '@' || version from stored_blueprint
        where file_count <> (select count(*) from stored_path where blueprint = number)""",
    ),
    (
        "stored_import",
        "import what is not there",
        "select blueprint from stored_import where imported not in (select number from stored_blueprint)",
    ),
    (
        "blueprint_use",
        "need what is not there",
        f"""select deployment from blueprint_use where deployment not in {_DEPLOYMENTS} or (
        blueprint not in (select number from stored_blueprint)
        and deployment in (select number from deployment where deleted_at = 0))""",
    ),
    (
        "package_path",
        "belong to no package",
        "select package from package_path where package not in (select number from package)",
    ),
    (
        "package_path",
        "have no content",
        "select package || ', ' || path from package_path where content not in (select digest from stored_content)",
    ),
    (
        "definition_file",
        "have no content",
        """select name || ' ' || version || ', ' || path from definition_file
        where content not in (select digest from stored_content)""",
    ),
    (
        "package",
        "have not all their files",
        """select name || '==' || version from package
        where file_count <> (select count(*) from package_path where package = number)""",
    ),
    (
        "package_use",
        "need what is not there",
        f"""select deployment from package_use where deployment not in {_DEPLOYMENTS} or (
        package not in (select number from package)
        and deployment in (select number from deployment where deleted_at = 0))""",
    ),
)
"""(table, what is wrong with the rows found, SQL statement that finds them)"""


def inconsistencies(db: Connection, failure: type[Exception]) -> Iterator[StoreFinding]:
    """Yield all inconsistencies of the stored rows, read in the caller's transaction.

    ``failure``: the error that the database raises for what it cannot read.
    """
    yield from _misfits(db, failure)
    yield from _values(db, failure)
    yield from contradictions(db, failure)


def _misfits(db: Connection, failure: type[Exception]) -> Iterator[StoreFinding]:
    for where, what, statement in (*_RULES, *RULES):
        try:
            found = db.execute(f"with found(named) as ({statement}) select count(*), min(named) from found")
            count, first = found.fetchone()
        except failure as error:
            yield StoreFinding(where, f"cannot be read: {error}")
            continue
        if count:
            yield StoreFinding(where, f"{count} {what} (one is {first})", count)


def _values(db: Connection, failure: type[Exception]) -> Iterator[StoreFinding]:
    """Yield values that cannot be unpacked or contradict their description."""
    for where, statement, look in (
        ("topology", _TOPOLOGIES, _look_at_topology),
        ("graph", f"select id, name, entry_count, {', '.join(graphs.COLUMNS)} from graph", _look_at_graph),
        ("page", "select graph || ', page ' || number, statuses from page", _look_at_page),
        ("batch", _BATCHES, _look_at_batch),
        ("check_page", "select deployment, times, executions from check_page", _look_at_check_page),
        ("stored_content", "select digest, size_bytes, body from stored_content", _look_at_content),
    ):
        count, first = 0, ""
        try:
            for row in db.execute(statement):
                try:
                    wrong = look(db, row)
                except (ValueError, LookupError, TypeError) as error:
                    wrong = str(error) or type(error).__name__
                if wrong:
                    count, first = count + 1, first or f"{row[0]}: {wrong}"
        except failure as error:
            yield StoreFinding(where, f"cannot be read: {error}")
        if count:
            yield StoreFinding(where, f"{count} cannot be unpacked (the first: {first})", count)


_TOPOLOGIES = f"""select deployment, {", ".join(topologies.COLUMNS)} from topology
    where deployment not in (select number from deployment where deleted_at <> 0)"""
"""SQL query of all topologies, except those of deleted deployments, which may have been unreadable."""
_BATCHES = f"select id, kinds, last_graph, {PLACES} from batch"


def _look_at_topology(db: Connection, row: tuple[Any, ...]) -> str:
    found = db.execute(
        "select body, instance_count, name from blueprint join deployment on number = deployment where deployment = ?",
        row[:1],
    ).fetchone()
    if found is None:
        return ""  # reported as a topology that belongs to no deployment
    try:
        count = len(topologies.from_row(row[1:], topologies.blueprint_from_text(found[0])))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        forget = f"without a backup, delete its records: phaseline deployments delete {found[2]} --force"
        return f"'{found[2]}': {type(error).__name__} {error}; {forget}"
    return "" if count == found[1] else f"{count} instances instead of {found[1]}"


def _look_at_graph(_: Connection, row: tuple[Any, ...]) -> str:
    graph = graphs.from_row(row[1], row[3:])
    entries, edges = int(row[2]), len(graph.idx)
    lengths = {len(column) for column in (graph.subject, graph.policy, graph.marks)}
    if lengths != {entries} or len(graph.ptr) != entries + 1 or sum(step.count for step in graph.steps) != entries:
        return f"its columns are not those of {entries} entries"
    if int(graph.ptr[-1]) != edges or (edges and not 0 <= int(graph.idx.min()) <= int(graph.idx.max()) < entries):
        return "its edges lead nowhere"
    return ""


def _look_at_page(_: Connection, row: tuple[Any, ...]) -> str:
    statuses = np.frombuffer(row[1], np.uint8)
    return "an unknown status" if len(statuses) and int(statuses.max()) > max(EntryStatus) else ""


def _look_at_batch(db: Connection, row: tuple[Any, ...]) -> str:
    _, kinds, last_graph, *members = row
    places = places_of(members)
    graphs, ends, positions = places
    if not len(positions):
        return "it has no members"
    if len(graphs) != len(ends) or [0, *ends] != sorted({0, *ends}) or ends[-1] != len(positions):
        return "its columns do not fit one another"
    if (min(graphs), max(graphs)) != (members[0], last_graph):
        return "its graphs are not those of its columns"
    for graph, mine in places.parts():
        count = _entry_count(db, graph)
        if count is not None and not 0 <= int(mine.min()) <= int(mine.max()) < count:
            return "members that its graph does not have"
    answers = len(positions) if kinds is None else len(decode(kinds))
    return "" if answers == len(positions) else f"{answers} answers of {len(positions)} members"


def _entry_count(db: Connection, graph: int) -> int | None:
    """Return the number of entries of a graph; None if a purge is about to delete it. Raises: LookupError."""
    found = db.execute("select entry_count from graph where id = ?", (graph,)).fetchone()
    if found is not None:
        return int(found[0])
    if db.execute("select 1 from remains where kind = 'graph' and number = ?", (graph,)).fetchone():
        return None
    raise LookupError(f"members of a missing graph {graph}")


def _look_at_check_page(_: Connection, row: tuple[Any, ...]) -> str:
    lengths = {len(decode(column)) for column in row[1:]}
    return "" if lengths == {PAGE_ENTRIES} else "its columns are not those of a page"


def _look_at_content(_: Connection, row: tuple[Any, ...]) -> str:
    digest = hashlib.sha256(unpacked(row[1], row[2])).hexdigest()
    return "" if digest == row[0] else "it is not what was stored"
