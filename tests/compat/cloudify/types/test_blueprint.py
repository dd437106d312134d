"""Blueprint nodes store their blueprint, and delete it unless something else uses it (CO19)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compat.cloudify.types.estates import INNER, Yard
from tests.compat.cloudify.types.test_component import messages
from tests.compat.cloudify.types.test_password_secret import HEAD

BLUEPRINT = (
    HEAD + "    type: cloudify.nodes.Blueprint\n    properties: {blueprint: {id: pg, blueprint_archive: inner}}\n"
)


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    found = Yard(tmp_path)
    with found.client:
        yield found


def test_co19_a_blueprint_node_stores_its_blueprint_and_deletes_it(yard: Yard) -> None:
    yard.app(BLUEPRINT, INNER)
    done = yard.client.executions.install(str(yard.folder / "app/blueprint.yaml"), "app")
    assert done.status == "completed", messages(done)
    (row,) = yard.client.blueprints.list()
    assert (str(row.blueprint), row.blueprint.main_file) == ("pg@1", "blueprint.yaml")
    assert yard.client.executions.uninstall("app").status == "completed"
    assert not yard.client.blueprints.list()


def test_co19_a_blueprint_that_is_used_stays(yard: Yard) -> None:
    yard.app(BLUEPRINT, INNER)
    yard.client.executions.install(str(yard.folder / "app/blueprint.yaml"), "app")
    yard.client.deployments.create("pg", "other")
    gone = yard.client.executions.uninstall("app")
    assert gone.status == "completed", messages(gone)
    assert [str(row.blueprint) for row in yard.client.blueprints.list()] == ["pg@1"]
