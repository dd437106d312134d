"""The packages that deployments use, in the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from phaseline.model.packages.installed import PackageRow, PackageUse
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

PACKAGE = "number, name, version, format, digest, title, origin, file_count, size_bytes, installed_at, installed_by"
PACKAGE_KINDS = "ittttttiiit"
"""Columns of a package, and their kinds (``read_model.one_statement.KINDS``)."""
_USES = """select deployment, package, is_enabled, is_imported, settings, folders, at, actor from package_use
    join package on package.number = package_use.package"""
_TENANT_OF = "(select deployment.tenant from deployment where deployment.number = ?)"


def uses_of(db: Connection, deployment: int) -> list[PackageUse]:
    """Return the packages that a deployment uses, sorted by name."""
    return [_use(row) for row in db.execute(f"{_USES} where deployment = ? order by name", (deployment,))]


def all_uses(db: Connection, own: TenantRows) -> list[PackageUse]:
    """Return the uses of packages by deployments that are not deleted, by deployment and name of the package."""
    where, values = own.where("deleted_at = 0")
    living = f"(select number from deployment where {where})"
    rows = db.execute(f"{_USES} where deployment in {living} order by deployment, name", values)
    return [_use(row) for row in rows]


def _use(row: Sequence[Any]) -> PackageUse:
    number, package, on, imported, settings, folders, at, by = row
    return PackageUse(
        number, package, bool(on), bool(imported), json.loads(settings), tuple(json.loads(folders)), at, by
    )


def add_uses(db: Connection, deployment: int, added: Iterable[PackageUse]) -> None:
    """Store that a deployment uses these packages. Raises: PL-F062 if a package is no longer installed."""
    for use in added:
        found = select(db, ALL, f"number = ? and removed_at = 0 and tenant = {_TENANT_OF}", use.package, deployment)
        if not found:
            raise failures.package_gone()
        other = """delete from package_use where deployment = ?
            and package in (select number from package where name = ?)"""
        db.execute(other, (deployment, found[0].name))
        values = (deployment, use.package, int(use.is_enabled), int(use.is_imported), to_text(dict(use.settings)))
        db.execute(f"insert into package_use values (?{', ?' * 7})", (*values, to_text(use.folders), use.at, use.by))


def select(
    db: Connection, rows: TenantRows, condition: str, *values: object, order: str = "number"
) -> list[PackageRow]:
    """Return the packages of a tenant that fulfil an SQL condition, including removed ones."""
    where, chosen = rows.where(condition, *values)
    found = db.execute(f"select {PACKAGE} from package where {where} order by {order}", chosen)
    return [PackageRow(*row) for row in found]
