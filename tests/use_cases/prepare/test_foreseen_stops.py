"""H46: a breakpoint that is given for one execution and at which nobody stops in it is refused, or told where that is not sure."""

import json
from pathlib import Path

import pytest
from tests.use_cases.commands.test_breakpoints import CHANGED, UntilItStops, ctx, order

from phaseline.app.app_context import RequestContext
from phaseline.app.watcher import NullWatcher
from phaseline.embedded.follow import follow
from phaseline.model.execution.breakpoints import read_breakpoint
from phaseline.model.problems.problem import ProblemsError
from phaseline.use_cases.commands.adopt import AdoptOrder, adopt, plan_adoption
from phaseline.use_cases.commands.install import install, uninstall
from phaseline.use_cases.commands.keep_plan import plan_uninstall, plan_workflow
from phaseline.use_cases.commands.labels import change_labels
from phaseline.use_cases.commands.start_workflow import start
from phaseline.use_cases.commands.update import plan_update, update
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.prepare.options import ExecutionOptions
from phaseline.use_cases.prepare.plan_preview import plan_install
from phaseline.use_cases.prepare.stack_documents import export
from phaseline.use_cases.prepare.update_preparation import UpdateOrder
from phaseline.use_cases.prepare.workflow_start import WorkflowStart
from phaseline.use_cases.queries.breakpoints import list_breakpoints

__all__ = ["ctx"]


class Listening(NullWatcher):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def noticed(self, text: str) -> None:
        self.told.append(text)


def stops(*texts: str, **more: object) -> ExecutionOptions:
    return ExecutionOptions(breakpoints=tuple(read_breakpoint(text) for text in texts), **more)


@pytest.mark.parametrize("doing", [install, plan_install])
def test_h46_a_point_that_the_workflow_does_not_have_is_refused_with_what_it_calls(
    ctx: RequestContext, tmp_path: Path, doing: object
) -> None:
    with pytest.raises(ProblemsError, match="PL-P047") as caught:
        doing(ctx, order(tmp_path), manner=stops("pre-stop=db", "pre-create=web", "post-delete=w*@5s"))
    assert [one.message for one in caught.value.problems] == [
        "no instance stops at the breakpoint pre-stop=db in this 'install'",
        "no instance stops at the breakpoint post-delete=w*@5s in this 'install'",
    ]
    keeping = "to keep it for other workflows: phaseline breakpoints add 'post-delete=w*@5s' -d NAME"
    assert caught.value.problems[1].mend == f"their calls: create; {keeping}"
    assert ctx.store.deployments() == []


def test_h46_a_point_that_is_kept_may_be_of_another_workflow(ctx: RequestContext, tmp_path: Path) -> None:
    asked = DeploymentSpec(str(tmp_path / "blueprint.yaml"), "shop", labels=["csys-breakpoint=pre-delete=db"])
    assert follow(ctx, install(ctx, asked)).is_good
    change_labels(ctx, "shop", remove=["csys-breakpoint"])


def test_h46_where_only_a_failure_would_lead_there_it_is_told_and_goes_on(ctx: RequestContext, tmp_path: Path) -> None:
    heard = Listening()
    manner = stops("pre-delete=db", on_failure="rollback")
    assert follow(ctx, install(ctx, order(tmp_path), manner=manner), watcher=heard).is_good
    assert "no instance stops at the breakpoint pre-delete=db in this 'install' if all goes well" in heard.told[0]
    asked = WorkflowStart("heal", "shop", {"assume_healthy": True})
    assert follow(ctx, start(ctx, asked, manner=stops("pre-delete=db")), watcher=heard).is_good
    assert "in this 'heal' if all goes well" in heard.told[1]
    assert [one.code for one in plan_workflow(ctx, asked, manner=stops("pre-delete=db")).warnings] == ["PL-P047"]


@pytest.mark.parametrize(
    ("asked", "point"),
    [
        (WorkflowStart("uninstall", "shop"), "post-create=db"),
        (WorkflowStart("reinstall", "shop", {"node_ids": ["web"]}), "pre-create=db"),
        (WorkflowStart("stop", "shop"), "pre-stop"),
        (WorkflowStart("install", "shop", force=True), "pre-create"),
    ],
)
def test_h46_whom_a_workflow_does_not_bring_to_a_point_it_is_refused(
    ctx: RequestContext, tmp_path: Path, asked: WorkflowStart, point: str
) -> None:
    assert follow(ctx, install(ctx, order(tmp_path))).is_good
    for doing in (start, plan_workflow):
        with pytest.raises(ProblemsError, match=rf"PL-P047 .* in this '{asked.workflow}'"):
            doing(ctx, asked, manner=stops(point))
    if asked.workflow == "uninstall":
        for undoing in (uninstall, plan_uninstall):
            with pytest.raises(ProblemsError, match=r"PL-P047 .* in this 'uninstall'"):
                undoing(ctx, "shop", manner=stops(point))
    assert len(ctx.store.executions()) == 1


def test_h46_while_another_execution_is_open_nothing_is_sure(ctx: RequestContext, tmp_path: Path) -> None:
    assert follow(ctx, install(ctx, order(tmp_path), manner=stops("pre-create=db")), watcher=UntilItStops()).interrupted
    assert [one.node for one in list_breakpoints(ctx)] == ["db"]
    planned = plan_uninstall(ctx, "shop", manner=stops("pre-delete=web"))
    warned = [one for one in planned.summary.warnings if one.code == "PL-P047"]
    assert [one.severity for one in warned] == ["warning"], "when its turn comes web may be there"


def test_h46_an_update_warns_of_a_point_that_it_does_not_come_to(ctx: RequestContext, tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").write_text(CHANGED)
    assert follow(ctx, install(ctx, order(tmp_path))).is_good
    wanted, heard = UpdateOrder("shop", str(tmp_path / "blueprint.yaml"), {"size": 2}), Listening()
    told = plan_update(ctx, wanted, manner=stops("pre-stop=web")).warnings
    assert [(one.code, one.severity) for one in told] == [("PL-P047", "warning")]
    assert follow(ctx, update(ctx, wanted, manner=stops("pre-stop=web")), watcher=heard).is_good
    assert "pre-stop=web in this 'update' if all goes well" in heard.told[0]


def test_h46_a_recursive_uninstall_stops_in_the_deployment_that_is_named(ctx: RequestContext, tmp_path: Path) -> None:
    assert follow(ctx, install(ctx, order(tmp_path))).is_good
    inside = DeploymentSpec(str(tmp_path / "blueprint.yaml"), "inside", labels=["csys-obj-parent=shop"])
    assert follow(ctx, install(ctx, inside)).is_good
    view = follow(ctx, uninstall(ctx, "shop", recursive=True, manner=stops("pre-delete=db")), watcher=UntilItStops())
    assert view.interrupted
    assert [(one.deployment, one.node) for one in list_breakpoints(ctx)] == [("shop", "db")]


def test_h46_an_adoption_calls_nothing_at_which_somebody_could_stop(ctx: RequestContext, tmp_path: Path) -> None:
    assert follow(ctx, install(ctx, order(tmp_path))).is_good
    file = tmp_path / "shop.json"
    file.write_text(json.dumps(export(ctx, "shop")))
    assert follow(ctx, uninstall(ctx, "shop")).is_good
    asked = AdoptOrder(str(file), "again")
    for doing in (adopt, plan_adoption):
        with pytest.raises(ProblemsError, match=r"PL-P047 .* in this 'adopt'"):
            doing(ctx, asked, manner=stops("pre-create"))
    assert [one.name for one in ctx.store.deployments()] == ["shop"]
