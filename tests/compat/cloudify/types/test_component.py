"""Components: install makes a deployment and installs it; uninstall leaves nothing (CO1 to CO13)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compat.cloudify.types.estates import Yard


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    found = Yard(tmp_path)
    with found.client:
        yield found


def test_a1_install_makes_a_deployment_and_uninstall_leaves_nothing(yard: Yard) -> None:
    client = yard.client
    done = client.executions.install(yard.app(), "app")
    assert (done.status, done.reason) == ("completed", ""), [each.message for each in done.failures]
    inner = client.deployments.show("db")
    assert inner.labels == {"csys-obj-parent": ["app"]}
    assert inner.inputs == {"size": 3}
    assert client.deployments.capabilities("app") == {"endpoint": "10.0.0.1"}
    (instance,) = client.instances.list(deployment="app").items
    shown = client.instances.show(instance.id).runtime_properties
    assert shown["deployment"] == {"id": "db", "ours": True}
    assert shown["blueprint"] == {"id": "app-db", "version": 1, "ours": True}
    assert shown["capabilities"] == {"endpoint": "10.0.0.1", "size": 3}
    assert yard.calls() == ["create db", "start db"]
    gone = client.executions.uninstall("app")
    assert gone.status == "completed", gone.failures
    assert yard.calls() == ["create db", "start db", "stop db"]
    assert [row.name for row in client.deployments.list().items] == ["app"]
    assert not client.blueprints.list()
    (instance,) = client.instances.list(deployment="app").items
    assert not client.instances.show(instance.id).runtime_properties
