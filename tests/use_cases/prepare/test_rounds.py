"""What an execution would do is foreseen, and nothing is stored."""

from pathlib import Path

import phaseline
from phaseline.use_cases.loading.blueprint_loading import load
from phaseline.use_cases.prepare.options import DEFAULT_OPTIONS
from phaseline.use_cases.prepare.rounds import foresee_first

TEXT = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  web: {type: cloudify.nodes.WebServer, instances: {deploy: 2}}
"""


def test_the_first_execution_of_a_deployment_is_foreseen_without_a_store(tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(TEXT)
    with phaseline.open(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        loaded = load(opened.ctx, str(file), inputs={})
        request = DEFAULT_OPTIONS.request("install", opened.ctx, {}, loaded.topology)
        foreseen = foresee_first(opened.ctx, request, loaded)
        ((topology, _),) = foreseen.graphs
        assert len(topology) == 2
        assert foreseen.topology.ids == loaded.topology.ids
        assert not opened.ctx.store.deployments()
