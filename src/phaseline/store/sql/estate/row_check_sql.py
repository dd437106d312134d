"""Checks of rows as SQL (LB3, LB4): the conditions of filters, evaluated by the database.

A check is true, false, or neither; so it becomes two conditions, one for true and one for false, and the opposite of a
check is the same two the other way round. Each condition is true or false, never null.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.rows.deployment_summaries import ACTIVE, INACTIVE, installation_status
from phaseline.model.rows.row_queries import AllOf, NotThat, RowCheck, RowTest, verdict_of
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.schema import IS_OPEN, IS_STALE
from phaseline.store.sql.read_model import summaries
from phaseline.store.sql.read_model.one_statement import CHOSEN, UNREADABLE_ROW

if TYPE_CHECKING:
    from phaseline.model.rows.deployment_summaries import DeploymentSummary
    from phaseline.store.database.connection import Connection
    from phaseline.store.database.tenant_rows import TenantRows

    Condition = tuple[str, tuple[object, ...]]
    """SQL condition, with its values."""

_KEPT = "(select {} from deployment_summary as kept where kept.deployment = deployment.number)"
_STARTED = """case when (deployment.kind = 'resources' and kept.status = 'good') or (deployment.kind <> 'resources' and (
    kept.status in ('good', 'adopted') or kept.states = '{{}}' or kept.states = '{{"{state}":' || kept.instances || '}}')) then '{active}' else '{inactive}' end"""
OF_DEPLOYMENTS: Mapping[str, str] = {
    "id": "deployment.name",
    "name": "deployment.name",
    "blueprint_file": "deployment.blueprint_file",
    "description": "deployment.description",
    "kind": "deployment.kind",
    "created_by": "deployment.created_by",
    "tenant_name": "deployment.tenant",
    "display_name": """coalesce(nullif((select json_extract(blueprint.body, '$.deployment_settings.display_name')
        from blueprint where blueprint.deployment = deployment.number), ''), deployment.name)""",
    "blueprint_id": """(select stored_blueprint.id from blueprint_use join stored_blueprint
        on stored_blueprint.number = blueprint_use.blueprint
        where blueprint_use.deployment = deployment.number and blueprint_use.namespace = '')""",
    "site_name": "(select site from deployment_site where deployment_site.deployment = deployment.number)",
}
"""{attribute of a deployment: SQL expression for its text}"""
OF_SUMMARIES: Mapping[str, str] = {
    "status": _KEPT.format("kept.status"),
    "installation_status": _KEPT.format(_STARTED.format(state=7, active=ACTIVE, inactive=INACTIVE)),
}
"""{attribute of a deployment at rest: SQL expression for its text}; for all other deployments the text is computed."""
OF_EXECUTIONS: Mapping[str, str] = {
    "id": "execution.id",
    "workflow": "substr(execution.id, 1, length(execution.id) - length(cast(execution.number as text)) - 1)",
    "status": "execution.status",
    "deployment": "(select named.name from deployment as named where named.number = execution.deployment)",
    "created_by": "execution.created_by",
    "reason": "execution.reason",
    "tenant_name": "execution.tenant",
}
"""{attribute of an execution: SQL expression for its text}"""
_RESTLESS = f"""select deployment.number, deployment.kind from deployment where deployment.deleted_at = 0
    and deployment.number in (select execution.deployment from execution where execution.{IS_OPEN}
    union select kept.deployment from deployment_summary as kept where kept.{IS_STALE}
    union select kept.deployment from deployment_summary as kept where kept.status = '{UNREADABLE_ROW}'
    union select made.number from deployment as made left join deployment_summary as kept
    on kept.deployment = made.number where made.deleted_at = 0 and kept.deployment is null)"""
"""SQL query of the deployments whose summaries are not stored: (number, kind)."""
_SURE = frozenset(OF_DEPLOYMENTS) - {"blueprint_id", "site_name"} | frozenset(OF_EXECUTIONS)
"""Attributes that every row has."""
_ODD = "\N{LATIN SMALL LETTER LONG S}"
"""The only letter besides ``K`` that ``folded_text`` makes an ASCII letter of, but Python's ``lower`` does not."""


@frozen
class _Part:
    """The conditions for which a check is true, and false."""

    true: Condition
    false: Condition


class CheckSql:
    """Checks as conditions of one statement on deployments or executions."""

    def __init__(self, db: Connection, own: TenantRows, *, of_executions: bool = False) -> None:
        """``of_executions``: the checks are on rows of executions."""
        self._db = db
        self._own = own
        self._number = "execution.deployment" if of_executions else "deployment.number"
        self._columns = OF_EXECUTIONS if of_executions else {**OF_DEPLOYMENTS, **OF_SUMMARIES}
        self._computed: Mapping[int, tuple[str, DeploymentSummary]] | None = None

    def conditions(self, checks: Collection[RowCheck]) -> list[Condition]:
        """Return SQL conditions that select the rows for which all checks are true."""
        return [self._part(check).true for check in checks]

    def _part(self, check: RowCheck) -> _Part:
        if isinstance(check, NotThat):
            part = self._part(check.item)
            return _Part(part.false, part.true)
        if isinstance(check, RowTest):
            if check.is_label:
                return self._label(check)
            return (
                self._summary(check) if check.name in OF_SUMMARIES and self._is_deployment else self._attribute(check)
            )
        parts = [self._part(item) for item in check.items]
        true, false = [part.true for part in parts], [part.false for part in parts]
        if isinstance(check, AllOf):
            return _Part(_joined(true, "and", "true"), _joined(false, "or", "false"))
        return _Part(_joined(true, "or", "false"), _joined(false, "and", "true"))

    @property
    def _is_deployment(self) -> bool:
        return self._number == "deployment.number"

    def _label(self, test: RowTest) -> _Part:
        with_key = f"{self._number} in (select label.deployment from label where label.key = ?"
        has = (f"{with_key})", (test.name,))
        if test.kind == "defined":
            return _Part(has, _opposite(has))
        text, values = _fits("label.value", test)
        true = (f"{with_key} and {text})", (test.name, *values))
        if test.kind == "is":
            return _Part(true, _opposite(true))
        return _Part(true, _joined([has, _opposite(true)], "and", "true"))

    def _attribute(self, test: RowTest) -> _Part:
        column = self._columns[test.name]
        return _of_column(column, test, is_sure=test.name in _SURE)

    def _summary(self, test: RowTest) -> _Part:
        """Return the conditions for a deployment's summary: stored if it is at rest, otherwise computed now."""
        if self._computed is None:
            self._computed = self._summaries_computed()
        verdicts = {
            number: verdict_of(test, lambda _test, known=known: _values(test.name, *known))  # type: ignore[misc]  # bound by its default
            for number, known in self._computed.items()
        }
        part = _of_column(self._columns[test.name], test, is_sure=False)
        if not verdicts:
            return part
        others = (f"not deployment.number {CHOSEN}", (to_text(sorted(verdicts)),))
        ways = []
        for verdict, stored in ((True, part.true), (False, part.false)):
            chosen = to_text(sorted(number for number, one in verdicts.items() if one is verdict))
            at_rest = _joined([others, stored], "and", "true")
            ways.append(_joined([(f"deployment.number {CHOSEN}", (chosen,)), at_rest], "or", "false"))
        return _Part(*ways)

    def _summaries_computed(self) -> Mapping[int, tuple[str, DeploymentSummary]]:
        """Return {deployment: its kind and summary} of those whose summaries are not stored."""
        which, values = self._own.where(_RESTLESS, column="deployment.tenant")
        kinds: dict[int, str] = dict(self._db.execute(which, values).fetchall())
        if not kinds:
            return {}
        found = summaries.read_summaries(self._db, self._own, values=(to_text(sorted(kinds)),))
        return {number: (kinds[number], one) for number, one in found.items()}


def _values(name: str, kind: str, summary: DeploymentSummary) -> Sequence[str]:
    """Return the value of an attribute that a summary has; none if the deployment cannot be read."""
    if summary.flaw:
        return ()
    return (summary.status if name == "status" else installation_status(kind, summary),)


def _of_column(column: str, test: RowTest, *, is_sure: bool) -> _Part:
    has: Condition = ("true" if is_sure else f"{column} is not null", ())
    if test.kind == "defined":
        return _Part(has, _opposite(has))
    text, values = _fits(column, test)
    true = (text, values) if is_sure else (f"coalesce({text}, false)", values)
    if is_sure or test.kind == "is":
        return _Part(true, _opposite(true))
    return _Part(true, _joined([has, _opposite(true)], "and", "true"))


def _equal_texts(column: str, text: str) -> Condition:
    """Return the condition for a text that equals an ASCII one without regard to case, as the language compares them."""
    if text.lower() == text.upper():
        return f"{column} = ?", (text,)
    same = f"(folded_text(coalesce({column}, '')) = ? and length({column}) = ? and instr({column}, '{_ODD}') = 0)"
    return same, (text.lower(), len(text))


_FORMS: Mapping[str, Callable[[str, str], Condition]] = {
    "is": lambda column, text: (f"{column} = ?", (text,)),
    "equals": _equal_texts,
    "starts": lambda column, text: (f"substr({column}, 1, ?) = ?", (len(text), text)),
    "ends": lambda column, text: (
        f"(length({column}) >= ? and substr({column}, length({column}) - ? + 1) = ?)",
        (len(text), len(text), text),
    ),
    "contains": lambda column, text: (f"instr({column}, ?) > 0" if text else "true", (text,) if text else ()),
}


def _fits(column: str, test: RowTest) -> Condition:
    return _FORMS[test.kind](column, test.text)


def _opposite(condition: Condition) -> Condition:
    text, values = condition
    return f"not ({text})", values


def _joined(conditions: Sequence[Condition], word: str, without: str) -> Condition:
    """Return the conditions joined by ``and`` or ``or``; ``without``: the condition if there are none."""
    if not conditions:
        return without, ()
    texts = f" {word} ".join(text for text, _ in conditions)
    return f"({texts})", tuple(value for _, values in conditions for value in values)
