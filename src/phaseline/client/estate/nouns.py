"""Saved filters, sites and environments: many deployments, found and grouped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.use_cases.commands.estate.filters import FilterView
    from phaseline.use_cases.commands.estate.sites import SiteView
    from phaseline.views.views import DeploymentView, Page


class FiltersNoun(Noun):
    """Saved filters: rules under a name, for lists of deployments or of stored blueprints."""

    def create(self, name: str, rules: Sequence[str], *, noun: str = "deployments") -> FilterView:
        """Save rules under a name; lists take it as ``@NAME``."""
        return self._call(ops.CREATE_FILTER, name=name, rules=rules, noun=noun)

    def list(self, *, noun: str | None = None) -> Sequence[FilterView]:
        """Return the saved filters, or those for one list."""
        return self._call(ops.LIST_FILTERS, noun=noun)

    def show(self, name: str, *, noun: str = "deployments") -> FilterView:
        """Return one saved filter."""
        return self._call(ops.SHOW_FILTER, name=name, noun=noun)

    def delete(self, name: str, *, noun: str = "deployments") -> FilterView:
        """Delete a saved filter."""
        return self._call(ops.DELETE_FILTER, name=name, noun=noun)


class SitesNoun(Noun):
    """Sites: places where deployments are."""

    def create(self, name: str, *, location: str = "") -> SiteView:
        """Make a site. ``location``: ``LATITUDE,LONGITUDE`` in degrees."""
        return self._call(ops.CREATE_SITE, name=name, location=location)

    def list(self) -> Sequence[SiteView]:
        """Return all sites by name."""
        return self._call(ops.LIST_SITES)

    def show(self, name: str) -> SiteView:
        """Return one site."""
        return self._call(ops.SHOW_SITE, name=name)

    def update(self, name: str, *, location: str) -> SiteView:
        """Give a site another location; an empty one takes it away."""
        return self._call(ops.UPDATE_SITE, name=name, location=location)

    def delete(self, name: str) -> SiteView:
        """Delete a site. Its deployments have no site then."""
        return self._call(ops.DELETE_SITE, name=name)


class EnvironmentsNoun(Noun):
    """Environments: deployments to which others belong."""

    def list(
        self,
        *,
        filter: str = "",  # noqa: A002 - the word of the command
        limit: int | None = None,
    ) -> Page[DeploymentView]:
        """Return the deployments with the label ``csys-obj-type=environment``. ``filter``: as for deployments."""
        return self._call(ops.LIST_ENVIRONMENTS, where=filter, limit=limit)
