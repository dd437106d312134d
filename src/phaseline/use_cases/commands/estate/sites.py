"""Sites: create, list, show, update and delete them (LB5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.label_rules import is_within
from phaseline.model.problems.name_rules import MEND, shown_name, why_no_name
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.estate import SiteRow
from phaseline.use_cases.lookup.estate.sites import require_site

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext

LARGEST_LATITUDE, LARGEST_LONGITUDE = 90, 180


@frozen
class SiteView:
    """A site. ``location``: ``latitude,longitude`` in degrees, or ""."""

    name: str
    location: str
    created_at: int
    created_by: str


def create_site(ctx: RequestContext, name: str, *, location: str = "") -> SiteView:
    """Make a site. Raises: PL-C094 for a name, PL-C156 if there is one with it, PL-C157 for a location."""
    reason = why_no_name(name) or ("" if name else "is empty")
    if reason:
        raise problem_error("PL-C094", f"the name '{shown_name(name)}' of a site {reason}", MEND, subject=name)
    row = SiteRow(name, _location(location), ctx.clock.now(), ctx.actor.name)
    if not ctx.store.sites.add(row, ctx.actor):
        mend = f"choose another name, or move that one: phaseline sites update {name} --location LAT,LONG"
        raise problem_error("PL-C156", f"there is a site '{name}' already", mend, subject=name)
    return SiteView(*row)


def list_sites(ctx: RequestContext) -> Sequence[SiteView]:
    """Return all sites by name."""
    return [SiteView(*row) for row in ctx.store.sites.all()]


def show_site(ctx: RequestContext, name: str) -> SiteView:
    """Return one site. Raises: PL-C155."""
    return SiteView(*require_site(ctx.store, name))


def update_site(ctx: RequestContext, name: str, *, location: str) -> SiteView:
    """Give a site another location. Raises: PL-C155, PL-C157."""
    given = _location(location)
    require_site(ctx.store, name)
    ctx.store.sites.move(name, given)
    return show_site(ctx, name)


def delete_site(ctx: RequestContext, name: str) -> SiteView:
    """Delete a site; its deployments have none then. Raises: PL-C155."""
    found = show_site(ctx, name)
    ctx.store.sites.remove(name)
    return found


def _location(text: str) -> str:
    """Return a location as it is stored. Raises: PL-C157."""
    if not text.strip():
        return ""
    parts = [part.strip() for part in text.split(",")]
    limits = (LARGEST_LATITUDE, LARGEST_LONGITUDE)
    if len(parts) != len(limits) or not all(map(is_within, parts, limits)):
        mend = "write LATITUDE,LONGITUDE in degrees, such as 48.14,11.58: from -90 to 90, and from -180 to 180"
        raise problem_error("PL-C157", f"'{shown_name(text)}' is no location", mend, subject=text)
    return ",".join(parts)
