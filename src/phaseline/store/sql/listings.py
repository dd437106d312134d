"""Lists of deployments, executions and instances: always the same small number of statements, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, overload

from phaseline.model.blueprint import labels as label_keys
from phaseline.model.rows.deployment_summaries import ListedFacts, kin_of
from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery
from phaseline.model.rows.rows import ExecutionRow
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.schema import IS_LEFT, IS_OPEN
from phaseline.store.database.tenant_rows import ALL, UNINDEXED, TenantRows
from phaseline.store.sql import labels
from phaseline.store.sql import queries as reads
from phaseline.store.sql.read_model import nodes, summaries
from phaseline.store.sql.read_model.one_statement import (
    CHOSEN,
    IS_COMPUTED,
    LATEST,
    UNFILLED,
    Part,
    WhereClause,
    select_together,
)

if TYPE_CHECKING:
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.model.rows.deployment_summaries import DeploymentSummary
    from phaseline.model.rows.details import DetailQuery, Details
    from phaseline.model.rows.instance_rows import InstancePage
    from phaseline.model.rows.listings import Roster
    from phaseline.model.rows.phase_tables import PhaseTables
    from phaseline.model.rows.row_queries import InstanceQuery
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.store.database.connection import Connect, Connection
    from phaseline.store.sql.read_model.details import Known

_COMPUTED = f"select number from deployment where deleted_at = 0 and {IS_COMPUTED}"
_RESTLESS = f"""select deployment from deployment_summary where is_calm = 0
    union select deployment from execution where {IS_OPEN} union {UNFILLED}"""
"""SQL query of the deployments that may need attention."""
_UNSETTLED = f""" where deleted_at = 0 and execution.number in (
    select number from execution where {IS_OPEN} and deployment in ({{which}})
    union all select failed.number from execution as failed where failed.{IS_LEFT} and failed.deployment in ({{which}})
    union all select {LATEST} from deployment where deployment.number in ({{which}}))"""
_HAS_SUMMARY_OF = "select deployment from deployment_summary where status = ?"

_FAMILIES = """select deployment.number, deployment.name, deployment.kind, label.key, label.value
    from label join deployment on deployment.number = label.deployment
    where label.key in (?, ?) and deployment.deleted_at = 0"""


_NAMES = f"""select deployment, json_extract(body, '$.deployment_settings.display_name') from blueprint
    where deployment {CHOSEN} and coalesce(json_extract(body, '$.deployment_settings.display_name'), '') <> ''"""


class SqliteListings:
    """Lists for users of a store on a database: the methods of the port ``Listings``."""

    def __init__(
        self,
        reading: Connect,
        known: Known,
        damaged: Callable[[str], ProblemsError],
        rows: TenantRows = ALL,
    ) -> None:
        """``reading`` begins a transaction that reads.

        ``known`` returns topologies that are in memory; ``damaged`` makes the problem of a value that cannot be
        decoded. ``rows`` are the rows that lists may have.
        """
        self._reading = reading
        self._known = known
        self._damaged = damaged
        self._rows = rows

    def deployments(self, wanted: DeploymentQuery) -> Sequence[DeploymentRow]:
        """Return the deployments that a query selects."""
        with self._reading() as db:
            return select_deployments(db, wanted, self._rows)

    def executions(self, wanted: ExecutionQuery) -> Sequence[ExecutionRow]:
        """Return the executions that a query selects."""
        with self._reading() as db:
            return select_executions(db, wanted, self._rows)

    @overload
    def page(self, wanted: DeploymentQuery) -> tuple[Sequence[DeploymentRow], int]: ...

    @overload
    def page(self, wanted: ExecutionQuery) -> tuple[Sequence[ExecutionRow], int]: ...

    def page(
        self, wanted: DeploymentQuery | ExecutionQuery
    ) -> tuple[Sequence[DeploymentRow] | Sequence[ExecutionRow], int]:
        """Return (the rows that a query selects, the number that ``count`` returns)."""
        with self._reading() as db:
            if isinstance(wanted, DeploymentQuery):
                return page_of_deployments(db, wanted, self._rows)
            return page_of_executions(db, wanted, self._rows)

    def instances(self, wanted: InstanceQuery) -> InstancePage:
        """Return the page of instances that a query selects."""
        from phaseline.store.sql.read_model.instances import select_instances  # few commands list instances

        with self._reading() as db:
            return select_instances(db, wanted, self._rows)

    def count(self, wanted: DeploymentQuery | ExecutionQuery) -> int:
        """Return the number of rows that fulfil the conditions of a query, regardless of its page and limit."""
        with self._reading() as db:
            return count_rows(db, wanted, self._rows)

    def summaries(self, deployments: Sequence[int]) -> Mapping[int, DeploymentSummary]:
        """Return {deployment: its summary}."""
        with self._reading() as db:
            own = self._rows.own_all(db, "deployment", deployments)
            found = summaries.read_summaries(db, self._rows, values=(to_text(own),))
        return {number: found[number] for number in deployments if number in found}

    def rosters(self, deployments: Sequence[int]) -> Mapping[int, Roster]:
        """Return {deployment: its instances}."""
        from phaseline.store.sql.read_model.instances import read_rosters

        with self._reading() as db:
            found = read_rosters(db, self._rows.own_all(db, "deployment", deployments))
            return {abs(number): roster for number, roster in found.items()}

    def with_ids(
        self, beginning: str, *, kind: str = "", limit: int | None = None
    ) -> Sequence[tuple[DeploymentRow, Sequence[str]]]:
        """Return the deployments that have instances whose ids begin so, by name, with these ids."""
        with self._reading() as db:
            return nodes.with_ids(db, self._rows, beginning, kind=kind, limit=limit)

    def node_names(self, deployment: int | None = None) -> set[str]:
        """Return the names of the nodes of all deployments that are not deleted, or of one."""
        with self._reading() as db:
            return nodes.node_names(db, self._rows, deployment)

    def state_names(self, deployment: int | None = None) -> set[str]:
        """Return the names of the states of resources that deployments which are not deleted know, or one of them."""
        where, values = self._rows.where("deleted_at = 0")
        if deployment is not None:
            where, values = f"{where} and number = ?", (*values, deployment)
        names = (
            f"select distinct name from state_name where deployment in (select number from deployment where {where})"
        )
        with self._reading() as db:
            return {name for (name,) in db.execute(names, values)}

    def details(self, wanted: DetailQuery) -> Details:
        """Return details of many executions, graphs and deployments."""
        from phaseline.store.sql.read_model.details import read_details

        with self._reading() as db:
            return read_details(db, wanted, self._rows, self._known, self._damaged)

    def phase_tables(self) -> PhaseTables:
        """Return what the store has of phases, paused phases, measurements and packages."""
        from phaseline.store.sql.read_model.phase_tables import read_phase_tables

        with self._reading() as db:
            return read_phase_tables(db, self._rows)

    def facts(self, deployments: Sequence[int], *, with_names: bool = False) -> ListedFacts:
        """Return what lists show of deployments besides rows and summaries, and which belong to which."""
        with self._reading() as db:
            own = self._rows.own_all(db, "deployment", deployments)
            return read_facts(db, self._rows, own, with_names=with_names)

    def unsettled(self, deployment: int | None = None) -> Sequence[tuple[ExecutionRow, int]]:
        """Return the executions that may need attention."""
        with self._reading() as db:
            which, values = _RESTLESS, tuple[int, ...]()
            if deployment is not None:
                which, values = "?", (self._rows.own(db, "deployment", deployment),) * 3
            column = UNINDEXED.format("execution.tenant")
            where, chosen = self._rows.where(_UNSETTLED.format(which=which), *values, column=column)
            select = reads.select_execution(self._rows, reads.ENTRIES)
            rows = db.execute(f"{select}{where} order by execution.number", chosen).fetchall()
            return [(row, found[-1]) for row, found in zip(reads.executions_from(self._rows, rows), rows, strict=True)]


def select_executions(db: Connection, wanted: ExecutionQuery, own: TenantRows = ALL) -> list[ExecutionRow]:
    """Return the executions that the query selects."""
    return _executions(db, wanted, _of_executions(db, wanted, own), own)


def page_of_executions(db: Connection, wanted: ExecutionQuery, own: TenantRows = ALL) -> tuple[list[ExecutionRow], int]:
    """Return (the executions that the query selects, the number of all that fulfil its conditions)."""
    where = _of_executions(db, wanted, own)
    rows = _executions(db, wanted, where, own)
    is_whole = not wanted.after and (wanted.limit is None or len(rows) < wanted.limit)
    return rows, len(rows) if is_whole else _count_executions(db, wanted, where, own)


def _executions(db: Connection, wanted: ExecutionQuery, where: WhereClause, own: TenantRows) -> list[ExecutionRow]:
    page = where.copy()
    if wanted.after:
        page.add(f"execution.number {'<' if wanted.is_latest_first else '>'} ?", wanted.after)
    order = "execution.number desc" if wanted.is_latest_first else "execution.number"
    return reads.execution_rows(db, own, f"{page} order by {order}{_limit(wanted.limit)}", page.values)


def select_deployments(db: Connection, wanted: DeploymentQuery, own: TenantRows = ALL) -> list[DeploymentRow]:
    """Return the deployments that the query selects."""
    return _deployments(db, wanted, _of_deployments(db, wanted, own), own)


def page_of_deployments(
    db: Connection, wanted: DeploymentQuery, own: TenantRows = ALL
) -> tuple[list[DeploymentRow], int]:
    """Return (the deployments that the query selects, the number of all that fulfil its conditions)."""
    where = _of_deployments(db, wanted, own)
    if wanted.checks and wanted.limit is not None:
        return _checked_page(db, wanted, where, own)
    rows = _deployments(db, wanted, where, own)
    is_whole = not wanted.after and (wanted.limit is None or len(rows) < wanted.limit)
    return rows, len(rows) if is_whole else _count(db, "deployment", where)


def _checked_page(
    db: Connection, wanted: DeploymentQuery, where: WhereClause, own: TenantRows
) -> tuple[list[DeploymentRow], int]:
    """Return a page, and the number of all rows, with one evaluation of the checks, which take most of the time."""
    found = db.execute(f"select number, name from deployment{where}", where.values).fetchall()
    later = sorted((name, number) for number, name in found if name > wanted.after)[: wanted.limit]
    rows = reads.deployment_rows(db, own, f" where number {CHOSEN}", (to_text([number for _, number in later]),))
    return sorted(rows, key=lambda row: row.name), len(found)


def _deployments(db: Connection, wanted: DeploymentQuery, where: WhereClause, own: TenantRows) -> list[DeploymentRow]:
    page = where.copy()
    if wanted.after:
        page.add("name > ?", wanted.after)
    return reads.deployment_rows(db, own, f"{page} order by name{_limit(wanted.limit)}", page.values)


def count_rows(db: Connection, wanted: DeploymentQuery | ExecutionQuery, own: TenantRows = ALL) -> int:
    """Return the number of rows that fulfil the conditions of a query, regardless of its page and limit."""
    if isinstance(wanted, DeploymentQuery):
        return _count(db, "deployment", _of_deployments(db, wanted, own))
    return _count_executions(db, wanted, _of_executions(db, wanted, own), own)


def _count_executions(db: Connection, wanted: ExecutionQuery, where: WhereClause, own: TenantRows) -> int:
    has_checks = wanted.checks or wanted.deployment_checks
    if not has_checks and not str(_of_executions(db, wanted, ALL)):  # counting millions of rows would take longer
        return _count_all_executions(db, own)
    return _count(db, "execution", where)


def _count_all_executions(db: Connection, own: TenantRows) -> int:
    counted, values = own.where("true", column="name")
    uncounted, more = own.where("filling.name = 'executions'", column="execution.tenant")
    (found,) = db.execute(
        f"""select coalesce((select cast(sum(execution_count) as bigint) from tenant where {counted}), 0) + (
        select count(*) from filling join execution on execution.number > position and execution.number <= filling.last
        where {uncounted})""",
        (*values, *more),
    ).fetchone()
    return int(found)


def _count(db: Connection, table: str, where: WhereClause) -> int:
    return int(db.execute(f"select count(*) from {table}{where}", where.values).fetchone()[0])


def _limit(limit: int | None) -> str:
    """Return the last clause of a statement, which is empty without a limit."""
    return "" if limit is None else f" limit {int(limit)}"


def _of_executions(db: Connection, wanted: ExecutionQuery, own: TenantRows) -> WhereClause:
    where = WhereClause()
    is_searched = wanted.numbers is not None or wanted.deployments is not None or bool(wanted.begins)
    where.add_tenant(own, own.execution_column(is_searched=is_searched, is_page=wanted.limit is not None))
    if wanted.numbers is not None:
        where.add(f"execution.number {CHOSEN}", to_text(sorted(wanted.numbers)))
    if wanted.deployments is not None:
        where.add(f"deployment {CHOSEN}", to_text(sorted(wanted.deployments)))
    if wanted.begins:
        where.add_beginning("id", wanted.begins)
    if wanted.statuses:
        where.add(f"status {CHOSEN}", to_text(sorted(status.value for status in wanted.statuses)))
    if wanted.workflow:
        where.add("id = cast(? as text) || '-' || execution.number", wanted.workflow)
    if wanted.actor:
        where.add("execution.created_by = ?", wanted.actor)
    if wanted.since:
        where.add("execution.created_at >= ?", wanted.since)
    if wanted.ended_since:
        where.add("ended_at >= ?", wanted.ended_since)
    if wanted.text:
        where.add("instr(folded_text(id || ' ' || reason), ?) > 0", wanted.text.casefold())
    if wanted.checks or wanted.deployment_checks:
        from phaseline.store.sql.estate.row_check_sql import CheckSql  # few lists are filtered

        for text, values in CheckSql(db, own, of_executions=True).conditions(wanted.checks):
            where.add(text, *values)
        found = CheckSql(db, own).conditions(wanted.deployment_checks)
        if found:
            chosen = " and ".join(text for text, _ in found)
            where.add(
                f"execution.deployment in (select deployment.number from deployment where {chosen})",
                *(value for _, values in found for value in values),
            )
    return where


def _of_deployments(db: Connection, wanted: DeploymentQuery, own: TenantRows) -> WhereClause:
    where = WhereClause("deleted_at = 0")
    is_searched = wanted.numbers is not None or bool(wanted.labels)
    where.add_tenant(own, UNINDEXED.format("tenant") if is_searched else "tenant")
    if wanted.numbers is not None:
        where.add(f"deployment.number {CHOSEN}", to_text(sorted(wanted.numbers)))
    if wanted.begins:
        where.add_beginning("name", wanted.begins)
    if wanted.kind:
        where.add("kind = ?", wanted.kind)
    if wanted.status:
        computed, values = own.where(_COMPUTED)
        found = summaries.read_summaries(db, own, computed, values)
        where.add(
            f"(deployment.number {CHOSEN} or (deployment.number in ({_HAS_SUMMARY_OF}) and not {IS_COMPUTED}))",
            to_text([number for number, one in found.items() if one.status == wanted.status]),
            wanted.status,
        )
    if wanted.has_states:
        where.add("deployment.number in (select deployment from state_name)")
    if wanted.labels:
        for text, named in labels.having(wanted.labels):
            where.add(text, *named)
    if wanted.checks:
        from phaseline.store.sql.estate.row_check_sql import CheckSql

        for text, chosen in CheckSql(db, own).conditions(wanted.checks):
            where.add(text, *chosen)
    if wanted.text:
        where.add(
            "instr(folded_text(name || ' ' || description || ' ' || blueprint_file), ?) > 0", wanted.text.casefold()
        )
    return where


def read_facts(db: Connection, own: TenantRows, deployments: Sequence[int], *, with_names: bool = False) -> ListedFacts:
    """Return the facts of these deployments of the tenant, and which of all belong to which."""
    which = (to_text(list(deployments)),)
    families, values = own.where(_FAMILIES, label_keys.PARENT, label_keys.OBJECT_TYPE, column="deployment.tenant")
    parts = [
        Part(families, "itttt", values),
        Part(f"select deployment, site from deployment_site where deployment {CHOSEN}", "it", which),
        Part(f"select distinct deployment from check_page where deployment {CHOSEN}", "i", which),
        Part(
            f"""select blueprint_use.deployment, stored_blueprint.id from blueprint_use join stored_blueprint
            on stored_blueprint.number = blueprint_use.blueprint
            where blueprint_use.namespace = '' and blueprint_use.deployment {CHOSEN}""",
            "it",
            which,
        ),
    ]
    if with_names:
        parts.append(Part(_NAMES, "it", (*which,)))
    labels, sites, checked, ids, *names = select_together(db, parts)
    return ListedFacts(
        kin_of(sorted(labels)),
        dict(sites),
        frozenset(number for (number,) in checked),
        dict(ids),
        dict(names[0]) if names else {},
    )
