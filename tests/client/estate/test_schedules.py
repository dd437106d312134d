"""The methods ``client.schedules`` on a real store (SC11)."""

from __future__ import annotations

from pathlib import Path

import pytest

import phaseline

PLAIN = """
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
node_templates: {net: {type: cloudify.nodes.Root}}
"""


def test_sc11_every_method_of_schedules(tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").write_text(PLAIN)
    with phaseline.open(f"sqlite:///{tmp_path}/store.db") as client:
        client.deployments.create(str(tmp_path / "blueprint.yaml"), "shop")
        made = client.schedules.create("nightly", "shop", workflow="heal", every="1mo", weekdays=["l-fr"], count=2)
        assert made.rule == {"recurrence": "1mo", "weekdays": ["l-fr"], "count": 2}
        assert client.schedules.show("nightly", "shop").next_at == made.next_at > 0
        assert len(client.schedules.preview("nightly", "shop", count=9).times) == 2
        assert client.schedules.update("nightly", "shop", slip=3).slip_min == 3
        assert not client.schedules.disable("nightly", "shop", reason="why").is_enabled
        assert client.schedules.enable("nightly", "shop").is_enabled
        assert [view.name for view in client.schedules.list("shop")] == ["nightly"]
        client.schedules.delete("nightly", "shop")
        assert client.schedules.list() == []
        with pytest.raises(phaseline.ProblemsError):
            client.schedules.show("nightly", "shop")
