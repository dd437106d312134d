"""Where a Component's values come from: inputs of its operations before its properties (CO1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compat.cloudify.types.estates import Yard
from tests.compat.cloudify.types.test_component import messages, names


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    found = Yard(tmp_path)
    with found.client:
        yield found


def test_co1_a_type_of_the_users_own_may_give_values_by_inputs(yard: Yard) -> None:
    own = """
tosca_definitions_version: cloudify_dsl_1_5
imports: [cloudify/types/types.yaml]
node_types:
  Database:
    derived_from: cloudify.nodes.Component
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: cfy_extensions.cloudify_types.component.upload_blueprint
          inputs: {resource_config: {default: {blueprint: {blueprint_archive: inner}}}}
        configure:
          implementation: cfy_extensions.cloudify_types.component.create
          inputs: {resource_config: {default: {blueprint: {blueprint_archive: inner}, deployment: {id: own}}}}
node_templates: {db: {type: Database}}
"""
    done = yard.client.executions.install(yard.app(own), "app")
    assert done.status == "completed", messages(done)
    assert names(yard) == ["app", "own"]
    assert yard.client.executions.uninstall("app").status == "completed"
    assert names(yard) == ["app"]
