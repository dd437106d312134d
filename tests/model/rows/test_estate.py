"""Every store keeps filters and sites with the arguments of their ports."""

from __future__ import annotations

import pytest
from tests.ports.signatures import differences, promised

from phaseline.model.rows.estate import FilterShelf, SiteShelf
from phaseline.store.memory.estate.filters import MemoryFilters
from phaseline.store.memory.estate.sites import MemorySites
from phaseline.store.sql.estate.filters import SqlFilters
from phaseline.store.sql.estate.sites import SqlSites


@pytest.mark.parametrize(
    ("port", "kind"),
    [(FilterShelf, SqlFilters), (FilterShelf, MemoryFilters), (SiteShelf, SqlSites), (SiteShelf, MemorySites)],
)
def test_a_shelf_has_the_methods_of_its_port(port: type, kind: type) -> None:
    assert differences(port, kind) == []
    assert all(hasattr(kind, name) for name in promised(port))
