"""The small tables that lists of phases and resources need, read by one statement."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from phaseline.model.packages.installed import PackageRow
from phaseline.model.rows.phase_tables import PhaseTables
from phaseline.model.rows.rows import PausedRow
from phaseline.store.sql.package_uses import PACKAGE, PACKAGE_KINDS
from phaseline.store.sql.read_model.one_statement import Part, select_together
from phaseline.store.sql.resource_clusters import metrics_from

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection
    from phaseline.store.database.tenant_rows import TenantRows


def read_phase_tables(db: Connection, own: TenantRows) -> PhaseTables:
    """Return what the store has of phases, paused phases, measurements and packages."""
    is_own, who = own.where("true")
    known, paused, measures, packages, keys = select_together(
        db,
        [
            Part("select name, known from known_phase", "tt"),
            Part(f"select name, at, actor, reason from paused_phase where {is_own}", "titt", who),
            Part("select name, at, body from measure", "tit"),
            Part(f"select {PACKAGE} from package where removed_at = 0 and {is_own}", PACKAGE_KINDS, who),
            Part("select purpose from data_key", "t"),
        ],
    )
    return PhaseTables(
        dict(sorted(known)),
        {row[0].lower(): PausedRow(*row) for row in sorted(paused, key=lambda row: (row[0].lower(), -row[1]))},
        metrics_from(sorted(measures)),
        [PackageRow(*row) for row in sorted(packages, key=itemgetter(1, 0))],
        frozenset(purpose for (purpose,) in keys),
    )
