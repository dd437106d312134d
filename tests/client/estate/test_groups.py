"""The methods ``client.groups`` on a real store (GR1, GR11)."""

from __future__ import annotations

from pathlib import Path

import pytest

import phaseline

PLAIN = """
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
inputs: {port: {default: 80}}
node_templates: {net: {type: cloudify.nodes.Root}}
"""


def test_gr1_every_method_of_groups(tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").write_text(PLAIN)
    with phaseline.open(f"sqlite:///{tmp_path}/store.db") as client:
        made = client.groups.create("shops", blueprint=str(tmp_path / "blueprint.yaml"), count=2, labels=["a=b"])
        assert (made.count, made.labels) == (2, ("a=b",))
        assert client.groups.extend("shops", each_inputs=[{"id": "north", "port": 1}]).count == 3
        assert "north" in client.groups.show("shops").members
        assert client.groups.shrink("shops", deployments=["north"]).count == 2
        assert [view.name for view in client.groups.list()] == ["shops"]
        with pytest.raises(phaseline.ProblemsError):
            client.groups.create("shops", count=True)
        client.groups.delete("shops", delete_deployments=True)
        assert client.groups.list() == []
        assert [view.name for view in client.deployments.list().items] == ["north"]
