"""Stored plans in SQLite, and the conversion of a plan's aim to text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import altered, as_dict
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.store.codec import requests
from phaseline.store.codec.json_documents import to_text
from phaseline.store.codec.topologies import blueprint_from_text, blueprint_to_text
from phaseline.store.database.tenant_rows import ALL, TenantRows

if TYPE_CHECKING:
    from phaseline.model.execution.stored_plans import Aim, StoredPlan
    from phaseline.model.packages.installed import PackageUse
    from phaseline.store.database.connection import Connect, Connection

_BRIEF = "deployment, request, created_at, created_by, base, execution"
_WHOLE = f"{_BRIEF}, body, told, aim"
_ADD = f"""insert into plan (tenant, {_WHOLE}) values (
    coalesce((select tenant from deployment where number = ?), ?){", ?" * 9}) returning number"""
_ONE = f"select number, {_WHOLE} from plan where"


class SqlitePlans:
    """Stored plans in a SQLite file: the methods of the port ``PlanShelf``."""

    def __init__(self, reading: Connect, writing: Connect, rows: TenantRows = ALL) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing
        self._rows = rows
        self._last: StoredPlan | None = None
        """Last stored plan, cached with its aim because a plan is often applied at once."""

    def add(self, new: StoredPlan) -> StoredPlan:
        """Store a plan under the next number. Keep only the latest unapplied plans of its deployment.

        ``MOST_WAITING`` is the number of plans kept.
        """
        with self._writing() as db:
            self._rows.require(db, "deployment", new.deployment)
            number = add_plan(db, new, self._rows.named)
        self._last = altered(new, number=number)
        return self._last

    def find(self, number: int) -> StoredPlan | None:
        """Return the plan with this number, or None."""
        where, values = self._rows.where("number = ?", number)
        with self._reading() as db:
            row = db.execute(f"{_ONE} {where}", values).fetchone()
        if row is None:
            return None
        known = self._last
        return _whole(row, known.aim if known is not None and known.number == number else None)

    def all(self, deployment: int | None = None) -> Sequence[StoredPlan]:
        """Return plans by number, without ``body``, ``text`` and ``aim``; only those of one deployment if given."""
        where, values = self._rows.where(
            "true" if deployment is None else "deployment = ?", *(() if deployment is None else (deployment,))
        )
        with self._reading() as db:
            rows = db.execute(f"select number, {_BRIEF} from plan where {where} order by number", values).fetchall()
        return [_brief(row) for row in rows]

    def of_execution(self, execution: int) -> StoredPlan | None:
        """Return the stored plan that an execution carries out, or None."""
        where, values = self._rows.where("execution = ? and execution > 0", execution)
        with self._reading() as db:
            row = db.execute(f"{_ONE} {where}", values).fetchone()
        return None if row is None else _whole(row)

    def apply(self, number: int, execution: int) -> bool:
        """Record the execution that carries a plan out. Return False if the plan already has another execution."""
        where, values = self._rows.where("number = ? and execution = 0", number)
        with self._writing() as db:
            self._rows.require(db, "execution", execution)
            return db.execute(f"update plan set execution = ? where {where}", (execution, *values)).rowcount == 1

    def delete(self, number: int) -> bool:
        """Delete a plan that no execution carries out. Return False if there is no such plan."""
        where, values = self._rows.where("number = ? and execution = 0", number)
        with self._writing() as db:
            return db.execute(f"delete from plan where {where}", values).rowcount == 1


def add_plan(db: Connection, new: StoredPlan, tenant: str) -> int:
    """Store a plan, and return its number. ``tenant``: to which it belongs if its deployment does not exist yet."""
    from phaseline.model.execution.stored_plans import MOST_WAITING  # most commands keep no plan

    values = (
        new.deployment,
        tenant,
        new.deployment,
        requests.to_json(new.request),
        new.created_at,
        new.created_by,
        to_text(dict(new.base)),
        new.execution,
        to_text(dict(new.body)),
        new.text,
        "" if new.aim is None else aim_to_text(new.aim),
    )
    (number,) = db.execute(_ADD, values).fetchone()
    db.execute(
        """delete from plan where deployment = ? and execution = 0 and number not in (
        select number from plan where deployment = ? and execution = 0 order by number desc limit ?)""",
        (new.deployment, new.deployment, MOST_WAITING),
    )
    return int(number)


def aim_to_text(aim: Aim) -> str:
    """Return the aim as JSON."""
    fields = {name: value for name, value in as_dict(aim).items() if name not in {"revision", "former"}}
    fields |= {"blueprint": blueprint_to_text(aim.blueprint), "code": as_dict(aim.code)}
    if aim.former is not None:
        fields["former"] = aim_to_text(aim.former)
    fields["packages"] = [as_dict(use) for use in aim.packages]
    return to_text({**fields, "inputs": dict(aim.inputs), "uses": dict(aim.uses)})


def aim_from_text(text: str) -> Aim:
    """Return the aim that ``aim_to_text`` has converted to JSON."""
    from phaseline.model.execution.stored_plans import Aim

    found: dict[str, Any] = json.loads(text)
    code = found["code"]
    places = CodeLocation(
        code["blueprint_folder"], tuple(code["plugin_folders"]), tuple((one, other) for one, other in code["imported"])
    )
    return Aim(
        blueprint=blueprint_from_text(found["blueprint"]),
        inputs=found["inputs"],
        code=places,
        suffixes=found["suffixes"],
        changed_inputs=tuple(found["changed_inputs"]),
        uses=found["uses"],
        counts=found.get("counts"),
        former=aim_from_text(found["former"]) if "former" in found else None,
        packages=_uses(found.get("packages", ())),
    )


def _uses(stored: Sequence[Mapping[str, Any]]) -> tuple[PackageUse, ...]:
    if not stored:
        return ()
    from phaseline.model.packages.installed import PackageUse  # few blueprints import any

    return tuple(PackageUse(**{**use, "folders": tuple(use["folders"])}) for use in stored)


def _brief(row: Sequence[Any]) -> StoredPlan:
    from phaseline.model.execution.stored_plans import StoredPlan

    number, deployment, request, created_at, created_by, base, execution = row
    asked = requests.from_json(request)
    return StoredPlan(number, deployment, asked, created_at, created_by, json.loads(base), {}, "", None, execution)


def _whole(row: Sequence[Any], known: Aim | None = None) -> StoredPlan:
    body, text, aim = row[7:]
    found = known or (aim_from_text(aim) if aim else None)
    return altered(_brief(row[:7]), body=json.loads(body), text=text, aim=found)
