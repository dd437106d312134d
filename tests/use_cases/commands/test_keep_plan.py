"""A plan is kept only where that is asked for, and stands among the plans of its deployment then."""

from pathlib import Path

import phaseline
from phaseline.use_cases.commands.apply_plan import list_plans
from phaseline.use_cases.commands.keep_plan import plan_uninstall, plan_workflow
from phaseline.use_cases.prepare.workflow_start import WorkflowStart

TEXT = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  web: {type: cloudify.nodes.WebServer}
"""


def test_what_is_kept_has_an_id_and_waits(tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(TEXT)
    with phaseline.open(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        opened.executions.install(str(file), "shop")
        assert plan_uninstall(opened.ctx, "shop").id == ""
        assert plan_workflow(opened.ctx, WorkflowStart("reinstall", "shop")).id == ""
        assert list(list_plans(opened.ctx)) == []
        kept = [
            plan_uninstall(opened.ctx, "shop", save=True),
            plan_workflow(opened.ctx, WorkflowStart("reinstall", "shop"), save=True),
        ]
        found = list_plans(opened.ctx, "shop")
        assert [(one.id, one.workflow, one.status) for one in reversed(found)] == [
            (kept[0].id, "uninstall", "waiting"),
            (kept[1].id, "reinstall", "waiting"),
        ]
