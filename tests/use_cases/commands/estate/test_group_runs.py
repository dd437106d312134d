"""Workflows are run over deployment groups, in a real store with real calls (GR3 to GR7, A38, A40 to A44)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import Settings
from phaseline.embedded.engine_commands import run_engine
from phaseline.embedded.follow import follow
from phaseline.embedded.open_app import open_context
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.use_cases.commands.estate.group_runs import (
    RunOrder,
    cancel_run,
    follow_group,
    pause_run,
    resume_run,
    retry_run,
    run_group,
    set_run,
)
from phaseline.use_cases.commands.estate.groups import GroupOrder, create_group, extend_group
from phaseline.use_cases.commands.labels import change_labels
from phaseline.use_cases.commands.start_workflow import start
from phaseline.use_cases.prepare.group_members import MemberInputs, NewMembers
from phaseline.use_cases.prepare.workflow_start import WorkflowStart
from phaseline.use_cases.queries.estate.group_runs import (
    RunView,
    list_runs,
    run_events,
    run_failures,
    show_run,
)

BLUEPRINT = """
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
inputs: {fails: {type: boolean, default: false}}
plugins: {shops: {executor: central_deployment_agent, install: false}}
node_types:
  shop.machine:
    derived_from: cloudify.nodes.Root
    properties: {fails: {default: false}}
    interfaces:
      cloudify.interfaces.lifecycle: {create: shops.shop_calls.create, start: shops.shop_calls.start}
node_templates:
  machine:
    type: shop.machine
    properties: {fails: {get_input: fails}}
    capabilities: {scalable: {properties: {default_instances: 10}}}
"""
CALLS = """
from pathlib import Path
from phaseline import operation
FOLDER = Path(__file__).parent

def note(what, batch):
    with open(FOLDER / "calls", "a") as file:
        print(what, len(batch), file=file)

@operation(bulk=True, repeatable=True)
def create(batch):
    note("create", batch)
    for item in batch:
        if item.properties["fails"] and not (FOLDER / "mended").exists():
            item.fail("connection refused")

@operation(bulk=True, repeatable=True)
def start(batch):
    note("start", batch)
"""


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[RequestContext]:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    (tmp_path / "plugins/shop_calls.py").write_text(CALLS)
    with open_context(Settings(f"sqlite:///{tmp_path}/store.db"), "a test") as found:
        found.app.notice = lambda _text: None
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "plugins"


def grouped(ctx: RequestContext, folder: Path, count: int, failing: int = 0) -> None:
    """A group of shops, some of which cannot be created."""
    each = [MemberInputs({"id": f"shop-{at:04}", "fails": at < failing}) for at in range(count)]
    order = GroupOrder(str(folder.parent / "blueprint.yaml"), (str(folder),), members=NewMembers(each=each))
    create_group(ctx, "shops", order)


def run(ctx: RequestContext, workflow: str = "install", **others: Any) -> RunView:
    return follow(ctx, run_group(ctx, "shops", RunOrder(workflow, **others)))


def calls(folder: Path) -> list[tuple[str, int]]:
    """The calls made so far: (operation, number of members)."""
    return [(line.split()[0], int(line.split()[1])) for line in (folder / "calls").read_text().splitlines()]


def refused(ctx: RequestContext, workflow: str = "install", **others: Any) -> list[Problem]:
    """Why a run is refused; nothing of it is stored."""
    with pytest.raises(ProblemsError) as caught:
        run_group(ctx, "shops", RunOrder(workflow, **others))
    assert (ctx.store.executions(), ctx.store.group_runs.of()) == ([], [])
    return list(caught.value.problems)


def test_a38_a_thousand_members_share_twenty_calls(ctx: RequestContext, folder: Path) -> None:
    order = GroupOrder(str(folder.parent / "blueprint.yaml"), (str(folder),), members=NewMembers(1_000))
    create_group(ctx, "shops", order)
    view = run(ctx)
    assert (view.status, view.counts, view.is_good) == ("completed", {"completed": 1_000}, True)
    made = calls(folder)
    assert sum(size for _, size in made) == 20_000
    assert len(made) <= 20
    assert max(size for _, size in made) <= 10_000


def test_a40_one_of_many_fails_and_only_it_is_called_again(ctx: RequestContext, folder: Path) -> None:
    grouped(ctx, folder, 20, failing=1)
    view = run(ctx)
    assert (view.status, view.counts, view.is_good) == ("failed", {"completed": 19, "failed": 1}, False)
    (failure,) = run_failures(ctx, "shops").failures
    assert (failure.count, failure.message, failure.node) == (1, "connection refused", "machine")
    assert failure.deployments == ["shop-0000"]
    (folder / "mended").touch()
    before = len(calls(folder))
    again = follow(ctx, retry_run(ctx, "shops", only="failed"))
    assert (again.status, again.counts) == ("completed", {"completed": 20})
    assert calls(folder)[before:] == [("create", 10), ("start", 10)]


def test_gr6_failures_are_grouped_by_message(ctx: RequestContext, folder: Path) -> None:
    grouped(ctx, folder, 8, failing=7)
    view = run(ctx)
    found = run_failures(ctx, view.id)
    assert [(one.count, len(one.deployments)) for one in found.failures] == [(7, 5)]
    assert (found.failed, found.is_shortened) == (7, False)
    kinds = [event.type for event in run_events(ctx, view.id).events]
    assert (kinds.count("workflow_failed"), kinds.count("workflow_succeeded")) == (7, 1)


def test_a42_a_run_stops_after_failures(ctx: RequestContext, folder: Path) -> None:
    grouped(ctx, folder, 10, failing=10)
    view = run(ctx, concurrency="2", stop_after="20%")
    assert view.status == "failed"
    assert 3 <= view.counts["failed"] <= 4
    assert view.counts["failed"] + view.counts["canceled"] == 10


def test_a44_a_run_that_was_canceled_while_it_waited_is_canceled(ctx: RequestContext, folder: Path) -> None:
    grouped(ctx, folder, 5)
    assert run(ctx, concurrency="0").status == "paused"
    view = follow(ctx, cancel_run(ctx, "shops"))
    assert (view.status, view.counts) == ("canceled", {"canceled": 5})
    assert follow(ctx, retry_run(ctx, view.id, only="canceled")).status == "completed"


def test_a41_a_paused_run_goes_on_when_it_is_told(ctx: RequestContext, folder: Path) -> None:
    grouped(ctx, folder, 5)
    assert run(ctx, concurrency="0").status == "paused"
    assert run_engine(ctx, until_idle=True).reason == "idle"
    assert set_run(ctx, "shops", concurrency="40%").concurrency == 2
    assert pause_run(ctx, "shops").status == "paused"
    assert follow(ctx, follow_group(ctx, "shops")).status == "paused"
    assert follow(ctx, resume_run(ctx, "shops")).status == "completed"
    with pytest.raises(ProblemsError) as caught:
        pause_run(ctx, "shops")
    assert caught.value.problems[0].code == "PL-C173"


def test_gr3_what_is_not_available_is_told_before_anything_begins(ctx: RequestContext, folder: Path) -> None:
    grouped(ctx, folder, 3)
    extend_group(ctx, "shops", GroupOrder(members=NewMembers(each=[MemberInputs({"id": "north"})])))
    start(ctx, WorkflowStart("install", "north"))
    run_engine(ctx, until_idle=True)
    with pytest.raises(ProblemsError) as caught:
        run_group(ctx, "shops", RunOrder("install"))
    (problem,) = caught.value.problems
    assert (problem.code, "north" in problem.message, "1 of 4" in problem.message) == ("PL-C172", True, True)
    view = run(ctx, skip_unavailable=True)
    assert (view.counts, view.left_out) == ({"completed": 3}, ["north"])


def test_gr3_busy_members_are_left_out_or_awaited(ctx: RequestContext, folder: Path) -> None:
    grouped(ctx, folder, 2)
    start(ctx, WorkflowStart("install", "shop-0000"))
    with pytest.raises(ProblemsError) as caught:
        run_group(ctx, "shops", RunOrder("install", if_busy="refuse"))
    assert caught.value.problems[0].code == "PL-C016"
    assert run(ctx, if_busy="skip").left_out == ["shop-0000"]


def test_gr3_parameters_for_each_deployment(ctx: RequestContext, folder: Path) -> None:
    grouped(ctx, folder, 2)
    run(ctx)
    each = {"shop-0001": {"node_ids": []}}
    view = run(
        ctx,
        "execute_operation",
        parameters={"operation": "cloudify.interfaces.lifecycle.start", "node_ids": ["machine"]},
        each_parameters=each,
    )
    assert view.status == "completed"
    found = {
        row.deployment_name: row.request.parameters["node_ids"]
        for row in ctx.store.executions()
        if row.request.workflow == "execute_operation"
    }
    assert found == {"shop-0000": ["machine"], "shop-0001": []}


def test_gr3_executions_begin_in_the_order_of_a_label(ctx: RequestContext, folder: Path) -> None:
    grouped(ctx, folder, 3)
    change_labels(ctx, "shop-0002", add=["wave=1"])
    change_labels(ctx, "shop-0001", add=["wave=2"])
    run(ctx, order="label:wave")
    assert [row.deployment_name for row in ctx.store.executions()] == ["shop-0002", "shop-0001", "shop-0000"]


@pytest.mark.parametrize(
    ("order", "code"),
    [
        ({"concurrency": "-1"}, "PL-C171"),
        ({"concurrency": "many"}, "PL-C171"),
        ({"concurrency": "101%"}, "PL-C171"),
        ({"stop_after": "30s"}, "PL-C171"),
        ({"order": "size"}, "PL-C171"),
        ({"each_parameters": {"north": {}}}, "PL-C171"),
        ({"workflow": "no_such"}, "PL-C172"),
        ({"parameters": {"wrong": 1}}, "PL-P"),
    ],
)
def test_gr3_a_wrong_order_is_refused_before_anything_is_stored(
    ctx: RequestContext, folder: Path, order: dict[str, Any], code: str
) -> None:
    grouped(ctx, folder, 2)
    found = refused(ctx, **order)
    assert found[0].code.startswith(code)


def test_gr3_an_empty_group_runs_nothing(ctx: RequestContext) -> None:
    create_group(ctx, "shops", GroupOrder())
    assert refused(ctx)[0].code == "PL-C171"


def test_gr7_a_run_without_failures_has_nothing_to_retry(ctx: RequestContext, folder: Path) -> None:
    grouped(ctx, folder, 2)
    run(ctx)
    with pytest.raises(ProblemsError) as caught:
        retry_run(ctx, "shops")
    assert caught.value.problems[0].code == "PL-C173"


def test_gr6_runs_are_found_by_id_or_by_the_group(ctx: RequestContext, folder: Path) -> None:
    grouped(ctx, folder, 2)
    with pytest.raises(ProblemsError) as caught:
        show_run(ctx, "shops")
    assert caught.value.problems[0].code == "PL-C170"
    first, second = run(ctx), run(ctx, "uninstall")
    assert [view.id for view in list_runs(ctx, "shops")] == [second.id, first.id]
    assert show_run(ctx, "shops").workflow == "uninstall"
    assert show_run(ctx, first.id).workflow == "install"
    assert len(show_run(ctx, "shops").slowest) == 2
    for wrong in ("run-99", "none"):
        with pytest.raises(ProblemsError):
            show_run(ctx, wrong)


def test_bb2_the_cause_of_each_execution_is_the_run(ctx: RequestContext, folder: Path) -> None:
    grouped(ctx, folder, 2)
    view = run(ctx)
    made = ctx.store.causes.caused("group", int(view.id.removeprefix("run-")))
    assert [one.number for one in made] == [row.number for row in ctx.store.executions()]


def test_gr4_the_setting_limits_runs_that_name_no_concurrency(
    ctx: RequestContext, folder: Path, tmp_path: Path
) -> None:
    grouped(ctx, folder, 3)
    with open_context(Settings(f"sqlite:///{tmp_path}/store.db", groups_concurrency=2), "a test") as limited:
        limited.app.notice = lambda _text: None
        assert run(limited).concurrency == 2
