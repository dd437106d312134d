"""The packages that deployments use, in the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from phaseline.model.packages.installed import PackageRow, PackageUse
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection
_COLUMNS = "number, name, version, format, digest, title, origin, file_count, size_bytes, installed_at, installed_by"
_TENANT_OF = "(select deployment.tenant from deployment where deployment.number = ?)"


def uses_of(db: Connection, deployment: int) -> list[PackageUse]:
    """Return the packages that a deployment uses, sorted by name."""
    rows = db.execute(
        """select deployment, package, is_enabled, is_imported, settings, folders, at, actor from package_use
        join package on number = package where deployment = ? order by name""",
        (deployment,),
    )
    return [
        PackageUse(number, package, bool(on), bool(imported), json.loads(settings), tuple(json.loads(folders)), at, by)
        for number, package, on, imported, settings, folders, at, by in rows
    ]


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
    found = db.execute(f"select {_COLUMNS} from package where {where} order by {order}", chosen)
    return [PackageRow(*row) for row in found]
