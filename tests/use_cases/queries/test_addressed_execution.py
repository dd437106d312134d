"""Which execution is meant by a word that is said to a deployment: that to which it applies, though a later one has come."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import phaseline
from phaseline import ProblemsError
from phaseline.app.settings import Settings
from phaseline.app.watcher import NullWatcher
from phaseline.calls.deployments.progress import Progress
from phaseline.embedded.open_app import open_context
from phaseline.embedded.watch_execution import Ending, wait
from phaseline.model.graph.status import EntryStatus, ExecutionStatus
from phaseline.use_cases.commands.submission import Submission, SubmissionAnswer

BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
plugins: {made: {executor: central_deployment_agent, install: false}}
node_templates:
  web: {type: cloudify.nodes.Root, interfaces: {cloudify.interfaces.lifecycle: {create: made.made.create}}}
"""
MORE = "  other: {type: cloudify.nodes.Root}\n"
PLUGIN = """
from pathlib import Path
from phaseline import NonRecoverableError, operation


@operation
def create(item):
    if (Path(__file__).parent / "full").exists():
        raise NonRecoverableError("no room left")
"""


class Leaving(NullWatcher):
    """Leaves when something sleeps, or it is told something with these words in it."""

    wants_progress = True

    def __init__(self, words: str = "\0") -> None:
        self.words, self.heard = words, ""

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        self.interrupt = interrupt

    def progressed(self, progress: Progress, now: int) -> None:
        asleep = any(row.counts.get(EntryStatus.SLEEPING) for row in progress.rows)
        if asleep and self.words == "\0":
            self.interrupt()

    def noticed(self, text: str) -> None:
        if self.words in text:
            self.heard = text
            self.interrupt()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "made.py").write_text(PLUGIN)
    (tmp_path / "one.yaml").write_text(BLUEPRINT)
    (tmp_path / "two.yaml").write_text(BLUEPRINT + MORE)
    return tmp_path


@pytest.fixture
def shop(folder: Path) -> Iterator[phaseline.Phaseline]:
    with phaseline.open(f"sqlite:///{folder}/store.db") as found:
        yield found


@pytest.fixture
def stopped(shop: phaseline.Phaseline, folder: Path) -> phaseline.Phaseline:
    """``install-1`` stands at a breakpoint, and ``update-2`` waits for it."""
    shop.executions.install(str(folder / "one.yaml"), "shop", breakpoints=["pre-create=web"], watcher=Leaving())
    shop.deployments.update("shop", str(folder / "two.yaml"), watcher=Leaving("waits for"))
    return shop


def test_9_an_update_beside_an_install_at_a_breakpoint_waits_and_is_told_what_lets_it_go_on(
    stopped: phaseline.Phaseline, folder: Path
) -> None:
    found = {one.id: (one.status, one.waits_for) for one in stopped.executions.list().items}
    assert found == {
        "install-1": (ExecutionStatus.RUNNING, ""),
        "update-2": (ExecutionStatus.QUEUED, "install-1"),
    }
    assert list(stopped.executions.show("update-2").counts) == [], "nothing of it has begun"
    with open_context(Settings(f"sqlite:///{folder}/store.db"), "a follower") as ctx:
        row = ctx.store.execution("update-2")
        assert row is not None
        hearing = Leaving("waits for install-1")
        hearing.begun(row.id, "shop", lambda: None)
        ticket = SubmissionAnswer(Submission(row), is_there=True)
        assert wait(ctx, ticket, hearing, leaves=lambda: bool(hearing.heard), own=lambda: False) is Ending.LEFT
    assert "phaseline breakpoints clear pre-create -d shop" in hearing.heard


def test_16_resume_and_complete_take_the_one_that_has_begun_though_a_later_one_waits_for_it(
    stopped: phaseline.Phaseline,
) -> None:
    assert stopped.executions.resume(deployment="shop", watcher=Leaving()).id == "install-1"
    done = stopped.executions.complete(deployment="shop", instances=["web"], reason="seen", watcher=Leaving("\0\0"))
    assert (done.id, done.status) == ("install-1", ExecutionStatus.COMPLETED)


def test_16_where_a_word_may_be_for_several_they_are_named(stopped: phaseline.Phaseline) -> None:
    with pytest.raises(ProblemsError, match=r"PL-C018 which execution of 'shop'.*install-1, update-2"):
        stopped.executions.cancel(deployment="shop")
    assert stopped.executions.cancel("update-2").id == "update-2"
    assert stopped.executions.cancel(deployment="shop").id == "install-1", "the only open one, though not the latest"


def test_16_approve_takes_the_one_that_waits_for_it(folder: Path) -> None:
    one = {"class": "phaseline.policies.approvals:RequireApproval", "name": "a", "options": {"actions": ["CREATE"]}}
    with phaseline.open(f"sqlite:///{folder}/store.db", settings={"hooks.classes": json.dumps([one])}) as shop:
        shop.executions.install(str(folder / "one.yaml"), "shop", watcher=Leaving())
        shop.deployments.update("shop", str(folder / "two.yaml"), watcher=Leaving("waits for"))
        with pytest.raises(ProblemsError, match="PL-H021 'install-1' waits for an approval of plan"):
            shop.executions.approve(deployment="shop", plan="0000000000")
        assert shop.executions.approve(deployment="shop").execution == "install-1"


def test_9_a_failed_install_is_told_though_an_update_came_after_it_until_it_is_mended(
    shop: phaseline.Phaseline, folder: Path
) -> None:
    (folder / "plugins" / "full").touch()
    shop.executions.install(str(folder / "one.yaml"), "shop")
    (folder / "plugins" / "full").unlink()
    assert shop.deployments.update("shop", str(folder / "two.yaml")).is_good
    (seen,) = shop.deployments.list().items
    assert (seen.latest_execution, seen.unfinished) == ("update-2", "install-1")
    assert [need.text for need in shop.status().needs] == ["install-1 of 'shop' failed"]
    assert [one.executions for one in shop.instances.stuck().items if one.kind == "failed"] == [["install-1"]]
    mended = shop.executions.retry(deployment="shop")
    assert (mended.id, mended.status) == ("install-1", ExecutionStatus.COMPLETED)
    (seen,) = shop.deployments.list().items
    assert (seen.status, seen.unfinished) == ("good", "")
    assert not shop.status().needs
    assert not shop.instances.stuck().items


def test_9_what_has_been_taken_away_since_is_unfinished_no_more(shop: phaseline.Phaseline, folder: Path) -> None:
    (folder / "plugins" / "full").touch()
    shop.executions.install(str(folder / "one.yaml"), "shop")
    assert shop.deployments.update("shop", str(folder / "two.yaml")).is_good
    shop.executions.uninstall("shop")
    (seen,) = shop.deployments.list().items
    assert (seen.status, seen.unfinished) == ("not_installed", "")
    assert not shop.instances.stuck().items


def test_9_of_two_that_failed_on_the_same_instance_the_later_one_tells_it(
    shop: phaseline.Phaseline, folder: Path
) -> None:
    (folder / "plugins" / "full").touch()
    shop.executions.install(str(folder / "one.yaml"), "shop")
    shop.executions.start("install", "shop")
    (seen,) = shop.deployments.list().items
    assert (seen.latest_execution, seen.unfinished) == ("install-2", "")
    assert [one.executions for one in shop.instances.stuck().items if one.kind == "failed"] == [["install-2"]]
