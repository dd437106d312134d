"""Commands submit and never wait: an engine of another process carries out what a process without one has stored."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.cli.clusters import plugins, worked_at

from phaseline.app.app_context import AppContext, RequestContext
from phaseline.app.settings import Settings
from phaseline.embedded.open_app import open_context
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.commands.control import cancel, retry
from phaseline.use_cases.commands.install import install, uninstall
from phaseline.use_cases.commands.resources.apply import apply
from phaseline.use_cases.commands.resources.set_target import target
from phaseline.use_cases.commands.submission import Submission, SubmissionAnswer, raise_refusals
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.queries.executions import show_execution
from phaseline.use_cases.queries.resources.resources import list_resources
from phaseline.use_cases.queries.resources.selection import ResourceSelector

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins: {fails: {executor: central_deployment_agent, install: false}}
node_templates:
  web:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: {implementation: fails.failing.create, max_retries: 0}}}
"""
PLUGIN = """\
from pathlib import Path
from phaseline import operation


@operation(repeatable=True)
def create(item):
    if not Path(__file__).with_name("mended").exists():
        raise RuntimeError("no")
"""
WITHOUT = """\
import sys
from phaseline.app.app_context import AppContext
from phaseline.app.settings import Settings
from phaseline.use_cases.commands.install import install
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
app = AppContext(Settings("sqlite:///{folder}/store.db", plugin_folders=("{folder}",)), "submits")
print(install(app.request(), DeploymentSpec("{folder}/blueprint.yaml", "shop")).row.status.value)
app.close()
print([name for name in sys.modules if name.startswith(("phaseline.embedded", "phaseline.run.loop.engine", "phaseline.run.executors", "phaseline.calls.threads"))])
"""


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[RequestContext]:
    """A process that only submits."""
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    (tmp_path / "failing.py").write_text(PLUGIN)
    folder = plugins(SimpleNamespace(folder=tmp_path, environment={}), delay=0)
    app = AppContext(Settings(f"sqlite:///{tmp_path}/store.db", plugin_folders=(str(tmp_path), str(folder))), "submits")
    yield app.request()
    app.close()


def work(ctx: RequestContext) -> None:
    """An engine of another process, as far as the store can tell, does what it can without a person."""
    with open_context(ctx.settings, "engine") as other:
        worked_at(other)


def status(ctx: RequestContext, submission: Submission) -> str:
    return show_execution(ctx, submission.row.id).status.value


def shop(tmp_path: Path) -> DeploymentSpec:
    return DeploymentSpec(str(tmp_path / "blueprint.yaml"), "shop")


def test_a_process_that_only_submits_loads_no_engine_and_no_thread(ctx: RequestContext, tmp_path: Path) -> None:
    code = WITHOUT.format(folder=tmp_path)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "queued\n[]\n"


def test_what_was_submitted_is_installed_retried_and_taken_away_by_the_engine_of_another_process(
    ctx: RequestContext, tmp_path: Path
) -> None:
    first = install(ctx, shop(tmp_path))
    assert (status(ctx, first), first.request, first.then) == ("queued", 0, None)
    work(ctx)
    assert status(ctx, first) == "failed"
    (tmp_path / "mended").touch()
    again = retry(ctx, deployment="shop")
    assert (again.row.id, again.request > 0, status(ctx, again)) == (first.row.id, True, "failed")
    work(ctx)
    assert status(ctx, again) == "completed"
    gone = uninstall(ctx, "shop")
    work(ctx)
    assert status(ctx, gone) == "completed"


def test_a_submitted_cancel_ends_what_has_not_begun(ctx: RequestContext, tmp_path: Path) -> None:
    first = install(ctx, shop(tmp_path))
    cancel(ctx, first.row.id)
    work(ctx)
    assert status(ctx, first) == "canceled"


def test_resources_are_applied_and_get_another_target_without_an_engine_here(ctx: RequestContext) -> None:
    made = apply(ctx, (), cluster="night", records=[{"AdType": "Cloud.Node", "Name": "n1", "TargetState": "Started"}])
    assert [one.action for one in made.view().resources] == ["created"]
    work(ctx)
    moving = target(ctx, "Terminated", ResourceSelector(names=["n1"]))
    assert [ctx.store.answer_of(number) for number in moving.requests] == [None]
    work(ctx)
    assert (moving.view().changed, moving.view().is_running) == (1, False)
    assert [one.state for one in list_resources(ctx, ResourceSelector(names=["n1"])).resources] == ["Terminated"]


def test_what_the_owner_refused_is_raised(ctx: RequestContext, tmp_path: Path) -> None:
    (tmp_path / "mended").touch()
    first = install(ctx, shop(tmp_path))
    work(ctx)
    request = ctx.store.ask(RequestKind.RETRY, first.row.number, {"id": first.row.id}, ctx.actor)
    answer = SubmissionAnswer(Submission(first.row, request))
    assert not answer.has_come(ctx.store)
    work(ctx)
    assert answer.has_come(ctx.store)
    assert answer.refusal is not None
    with pytest.raises(ProblemsError, match=answer.refusal.code):
        raise_refusals(ctx.store, [request])
