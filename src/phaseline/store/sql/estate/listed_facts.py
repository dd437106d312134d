"""What lists show of deployments besides their rows and summaries, read by one statement (LB5, LB9, LB10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.model.blueprint.label_rules import OBJECT_TYPE, PARENT
from phaseline.model.rows.deployment_statuses import ListedFacts, kin_of
from phaseline.store.codec.json_documents import to_text
from phaseline.store.sql.read_model.one_statement import CHOSEN, Part, select_together

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection
    from phaseline.store.database.tenant_rows import TenantRows

_FAMILIES = f"""select deployment.number, deployment.name, deployment.kind, label.key, label.value
    from label join deployment on deployment.number = label.deployment
    where label.key in ('{PARENT}', '{OBJECT_TYPE}') and deployment.deleted_at = 0"""


_NAMES = f"""select deployment, json_extract(body, '$.deployment_settings.display_name') from blueprint
    where deployment {CHOSEN} and coalesce(json_extract(body, '$.deployment_settings.display_name'), '') <> ''"""


def read_facts(db: Connection, own: TenantRows, deployments: Sequence[int], *, with_names: bool = False) -> ListedFacts:
    """Return the facts of these deployments of the tenant, and which of all belong to which."""
    which = (to_text(list(deployments)),)
    families, values = own.where(_FAMILIES, column="deployment.tenant")
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
