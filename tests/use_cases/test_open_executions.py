"""Executions that were interrupted: what may be done with them, and what is told about them. No command line here."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.terminal import BLUEPRINT, PLUGIN

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import Settings
from phaseline.app.watcher import NullWatcher
from phaseline.embedded.follow import follow
from phaseline.embedded.open_app import open_context
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import RequestKind
from phaseline.testing.builders import blueprint, node, topology
from phaseline.use_cases.commands.control import cancel, complete, resume, retry, watch
from phaseline.use_cases.commands.create_deployment import create
from phaseline.use_cases.commands.delete_deployment import delete_deployment
from phaseline.use_cases.commands.install import install, uninstall
from phaseline.use_cases.commands.submission import ask
from phaseline.use_cases.lookup.find import find_deployment, find_execution
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.prepare.options import ExecutionOptions
from phaseline.use_cases.queries.deployments import list_deployments, show_deployment
from phaseline.use_cases.queries.events.events_and_logs import events
from phaseline.use_cases.queries.executions import list_executions, show_execution
from phaseline.use_cases.queries.instance_waits import why
from phaseline.use_cases.queries.instances import list_instances


class Impatient(NullWatcher):
    """Interrupts as soon as something runs."""

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        interrupt()


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[RequestContext]:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "made.py").write_text(PLUGIN)
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    settings = Settings(f"sqlite:///{tmp_path}/store.db", task_retry_interval_s=0.01)
    with open_context(settings, "a test") as found:
        yield found


@pytest.fixture
def order(tmp_path: Path) -> DeploymentSpec:
    return DeploymentSpec(str(tmp_path / "blueprint.yaml"), "shop")


@pytest.fixture
def interrupted(ctx: RequestContext, order: DeploymentSpec) -> str:
    view = follow(ctx, install(ctx, order), watcher=Impatient())
    assert view.interrupted
    assert not view.status.is_ended
    return view.id


def code_of(error: pytest.ExceptionInfo[ProblemsError]) -> str:
    return error.value.problems[0].code


def test_an_interrupted_install_is_resumed_to_its_end(ctx: RequestContext, interrupted: str) -> None:
    view = follow(ctx, resume(ctx, interrupted))
    assert (view.status, view.interrupted) == (ExecutionStatus.COMPLETED, False)


def test_an_open_execution_makes_its_deployment_busy(
    ctx: RequestContext, interrupted: str, order: DeploymentSpec
) -> None:
    for attempt in (
        lambda: follow(ctx, uninstall(ctx, "shop", manner=ExecutionOptions(if_busy="refuse"))),
        lambda: delete_deployment(ctx, "shop", force=True),
    ):
        with pytest.raises(ProblemsError) as error:
            attempt()
        assert code_of(error) == "PL-C016"
        assert f"follow {interrupted}" in error.value.problems[0].mend
    with pytest.raises(ProblemsError) as error:
        follow(ctx, install(ctx, order))
    assert code_of(error) == "PL-S010"
    assert error.value.problems[0].message == (
        f"there is a deployment 'shop' already, and is being installed by {interrupted}"
    )
    assert f"follow {interrupted}" in error.value.problems[0].mend
    assert "--force" not in error.value.problems[0].mend, "it would be refused"
    with pytest.raises(ProblemsError) as error:
        create(ctx, order)
    assert code_of(error) == "PL-S010"
    assert f"is being installed by {interrupted}" in error.value.problems[0].message
    assert f"follow {interrupted}" in error.value.problems[0].mend


def test_a_name_that_something_else_than_an_install_uses_is_not_told_as_being_installed(
    ctx: RequestContext, order: DeploymentSpec
) -> None:
    assert follow(ctx, install(ctx, order)).status is ExecutionStatus.COMPLETED
    leaving = follow(ctx, uninstall(ctx, "shop"), watcher=Impatient())
    with pytest.raises(ProblemsError) as error:
        follow(ctx, install(ctx, order))
    assert error.value.problems[0].message == f"there is a deployment 'shop' already, and {leaving.id} has not ended"


def test_w10_who_does_not_refuse_waits_for_what_is_open_and_then_runs(ctx: RequestContext, interrupted: str) -> None:
    assert follow(ctx, uninstall(ctx, "shop")).status is ExecutionStatus.COMPLETED
    assert show_execution(ctx, interrupted).status is ExecutionStatus.COMPLETED
    started = [line.text for line in events(ctx, deployment="shop").lines]
    assert started[:2] == [f"Waiting for {interrupted}", "Starting 'uninstall' workflow execution"]


def test_an_interrupted_install_can_be_canceled_and_then_retried(ctx: RequestContext, interrupted: str) -> None:
    assert follow(ctx, cancel(ctx, interrupted)).status is ExecutionStatus.CANCELED
    with pytest.raises(ProblemsError) as error:
        follow(ctx, resume(ctx, interrupted))
    assert f"retry {interrupted}" in error.value.problems[0].mend
    assert follow(ctx, retry(ctx, interrupted)).status is ExecutionStatus.COMPLETED


@pytest.mark.parametrize("how", ["force", "kill"])
def test_every_kind_of_cancel_ends_it(ctx: RequestContext, interrupted: str, how: str) -> None:
    assert follow(ctx, cancel(ctx, interrupted, how=how)).status is ExecutionStatus.CANCELED
    assert follow(ctx, uninstall(ctx, "shop")).status is ExecutionStatus.COMPLETED


def test_an_ended_execution_is_not_reopened_while_another_is_open(
    ctx: RequestContext, order: DeploymentSpec, tmp_path: Path
) -> None:
    (tmp_path / "plugins" / "trouble").write_text("base")
    failed = follow(ctx, install(ctx, order))
    assert failed.status is ExecutionStatus.FAILED
    follow(ctx, uninstall(ctx, "shop"), watcher=Impatient())
    for decide in (
        lambda: follow(ctx, retry(ctx, failed.id)),
        lambda: follow(ctx, complete(ctx, failed.id, instances=[failed.failures[0].instance], reason="x")),
    ):
        with pytest.raises(ProblemsError) as error:
            decide()
        assert code_of(error) == "PL-C016"


def test_retry_with_clean_up_goes_on_too(ctx: RequestContext, order: DeploymentSpec, tmp_path: Path) -> None:
    (tmp_path / "plugins" / "trouble").write_text("base")
    failed = follow(ctx, install(ctx, order))
    (tmp_path / "plugins" / "trouble").write_text("")
    assert follow(ctx, retry(ctx, failed.id, clean=True)).status is ExecutionStatus.COMPLETED
    calls = (tmp_path / "plugins" / "calls").read_text().splitlines()
    assert calls[:3] == ["create base", "delete base", "create base"]


def test_instances_to_decide_about_must_be_there(ctx: RequestContext, order: DeploymentSpec, tmp_path: Path) -> None:
    (tmp_path / "plugins" / "trouble").write_text("top")
    failed = follow(ctx, install(ctx, order))
    for id, code in (("top", "PL-C013"), ("tpo_1", "PL-C012")):
        with pytest.raises(ProblemsError) as error:
            follow(ctx, retry(ctx, failed.id, instances=[id]))
        assert code_of(error) == code


def test_who_owns_the_store_takes_up_what_others_left_open(
    ctx: RequestContext, interrupted: str, order: DeploymentSpec, tmp_path: Path
) -> None:
    view = follow(ctx, install(ctx, DeploymentSpec(order.file, "other")))
    assert view.status is ExecutionStatus.COMPLETED
    assert (tmp_path / "plugins" / "calls").read_text().count("create base") == 2
    assert follow(ctx, resume(ctx, interrupted)).status is ExecutionStatus.COMPLETED if view.notices else True


def test_an_open_execution_is_shown_as_work_in_progress_that_nobody_does(ctx: RequestContext, interrupted: str) -> None:
    assert show_deployment(ctx, "shop").status == "in_progress"
    assert show_execution(ctx, interrupted).runner == ""
    found = why(ctx, list_instances(ctx).items[0].id)
    assert f"resume {interrupted}" in found.note
    with ctx.app.store.own("somebody else"):
        assert "somebody else" in show_execution(ctx, interrupted).runner
        assert "somebody else" in why(ctx, list_instances(ctx).items[0].id).note


def test_what_waits_names_what_it_waits_for(ctx: RequestContext, order: DeploymentSpec, tmp_path: Path) -> None:
    (tmp_path / "plugins" / "trouble").write_text("base")
    follow(ctx, install(ctx, order))
    top = list_instances(ctx, node="top").items[0]
    [reason] = why(ctx, top.id).reasons
    assert reason.kind == "lost"
    assert reason.blockers[0].operation == "cloudify.interfaces.lifecycle.create"


def test_lists_are_limited_and_filtered(ctx: RequestContext, order: DeploymentSpec) -> None:
    follow(ctx, install(ctx, order))
    follow(ctx, uninstall(ctx, "shop"))
    page = list_executions(ctx, limit=1)
    assert ([view.id for view in page.items], page.total) == (["uninstall-2"], 2)
    assert list_executions(ctx, status="failed").total == 0
    assert list_deployments(ctx, limit=1).is_whole
    assert list_instances(ctx, limit=2).total == 3


def test_the_latest_events_are_those_of_the_end(ctx: RequestContext, order: DeploymentSpec) -> None:
    follow(ctx, install(ctx, order))
    everything = events(ctx).lines
    assert [line.text for line in events(ctx, limit=3).lines] == [line.text for line in everything[-3:]]
    assert everything[0].text == "Starting 'install' workflow execution"


def test_the_only_deployment_is_meant_when_none_is_named(ctx: RequestContext, order: DeploymentSpec) -> None:
    with pytest.raises(ProblemsError) as error:
        find_execution(ctx.store, None, None)
    assert code_of(error) == "PL-C011"
    with pytest.raises(ProblemsError) as error:
        find_deployment(ctx.store, "shop")
    assert "phaseline install" in error.value.problems[0].mend
    follow(ctx, install(ctx, order))
    assert find_execution(ctx.store, None, None).id == "install-1"


def test_retries_and_their_interval_come_from_settings_and_manner(ctx: RequestContext) -> None:
    made = topology(blueprint(node("vm")))  # of the ancestor's language
    assert ExecutionOptions().request("install", ctx, {}, made).retries.task_retries == 60
    request = ExecutionOptions(3, "stop").request("install", ctx, {}, made)
    assert (request.retries.task_retries, request.retries.task_retry_interval_s) == (3, 0.01)
    assert request.stop_after is not None
    assert request.stop_after.failures == 0


def test_who_follows_what_is_about_to_go_on_carries_it_on(
    ctx: RequestContext, order: DeploymentSpec, tmp_path: Path
) -> None:
    (tmp_path / "plugins" / "trouble").write_text("base")
    failed = follow(ctx, install(ctx, order))
    (tmp_path / "plugins" / "trouble").unlink()
    row = ctx.store.execution(failed.id)
    assert row is not None
    ask(ctx, RequestKind.RETRY, row)
    assert follow(ctx, watch(ctx, failed.id)).status is ExecutionStatus.COMPLETED
