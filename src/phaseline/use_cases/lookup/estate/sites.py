"""Find sites by their names (LB5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import suggestion
from phaseline.model.problems.problem import problem_error

if TYPE_CHECKING:
    from phaseline.model.rows.estate import SiteRow
    from phaseline.ports.tenant_store import TenantStore


def require_site(store: TenantStore, name: str) -> SiteRow:
    """Return the site with this name. Raises: PL-C155."""
    found = store.sites.find(name)
    if found is None:
        hint = suggestion(name, [site.name for site in store.sites.all()])
        mend = f"{hint}make it: phaseline sites create {name}"
        raise problem_error("PL-C155", f"there is no site '{name}'", mend, subject=name)
    return found
