"""The port of plugin code and its implementation."""

from __future__ import annotations

import pytest
from tests.ports.signatures import differences

from phaseline.catalog.plugin_catalog import PluginCatalog
from phaseline.ports.catalog import Catalog


@pytest.mark.parametrize("kind", [PluginCatalog])
def test_every_catalog_takes_the_arguments_of_its_port(kind: type) -> None:
    assert differences(Catalog, kind) == []
