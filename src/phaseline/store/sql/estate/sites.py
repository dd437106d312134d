"""Sites, and the site of each deployment, in a database (LB5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.model.rows.estate import SiteRow
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.sql.read_model.one_statement import CHOSEN

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Actor
    from phaseline.store.database.connection import Connect, Connection

_SITE = "select name, location, created_at, created_by from site"
_PUT = """insert into deployment_site (deployment, tenant, site) select deployment.number, deployment.tenant, site.name
    from deployment join site on site.tenant = deployment.tenant and site.name = ? where deployment.number = ?
    on conflict (deployment) do update set site = excluded.site"""


class SqlSites:
    """The ``model.rows.estate.SiteShelf`` of a store in a database."""

    def __init__(self, reading: Connect, writing: Connect, rows: TenantRows = ALL) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing
        self._rows = rows

    def all(self) -> Sequence[SiteRow]:
        """Return the sites by name."""
        with self._reading() as db:
            where, values = self._rows.where("true")
            return sorted(SiteRow(*row) for row in db.execute(f"{_SITE} where {where}", values))

    def find(self, name: str) -> SiteRow | None:
        """Return the site with this name, or None."""
        with self._reading() as db:
            where, values = self._rows.of_names().where("name = ?", name)
            row = db.execute(f"{_SITE} where {where}", values).fetchone()
            return None if row is None else SiteRow(*row)

    def add(self, row: SiteRow, actor: Actor) -> bool:
        """Store a site with this user as its ``created_by``. Return False if there is one with its name."""
        added = """insert into site (tenant, name, location, created_at, created_by) values (?, ?, ?, ?, ?)
            on conflict (tenant, name) do nothing"""
        with self._writing() as db:
            return db.execute(added, (self._rows.by(actor).tenant, *row[:-1], actor.name)).rowcount == 1

    def move(self, name: str, location: str) -> bool:
        """Give a site another location. Return False if there is no such site."""
        with self._writing() as db:
            where, values = self._rows.of_names().where("name = ?", name)
            return db.execute(f"update site set location = ? where {where}", (location, *values)).rowcount == 1

    def remove(self, name: str) -> bool:
        """Remove a site; its deployments have none then. Return False if there is no such site."""
        with self._writing() as db:
            where, values = self._rows.of_names().where("site = ?", name)
            db.execute(f"delete from deployment_site where {where}", values)
            where, values = self._rows.of_names().where("name = ?", name)
            return db.execute(f"delete from site where {where}", values).rowcount == 1

    def of(self, deployments: Sequence[int]) -> Mapping[int, str]:
        """Return {deployment: name of its site}, without deployments that have none."""
        with self._reading() as db:
            where, values = self._rows.where(f"deployment {CHOSEN}", to_text(sorted(deployments)))
            return dict(db.execute(f"select deployment, site from deployment_site where {where}", values).fetchall())

    def put(self, deployment: int, site: str) -> bool:
        """Set the site of a deployment; "" takes it away. Return False if there is no such site."""
        with self._writing() as db:
            number = self._rows.require(db, "deployment", deployment)
            if site:
                return put_site(db, number, site)
            db.execute("delete from deployment_site where deployment = ?", (number,))
            return True


def put_site(db: Connection, deployment: int, site: str) -> bool:
    """Set the site of a deployment. Return False if its tenant has no such site; then nothing is changed."""
    return db.execute(_PUT, (site, deployment)).rowcount == 1
