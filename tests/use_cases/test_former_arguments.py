"""Arguments that were called otherwise before do what they did, with a warning; those that updates lacked do what the options do."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.use_cases.commands.test_update import ONE, PLUGIN, TWO

import phaseline
from phaseline import ProblemsError
from phaseline.use_cases.queries.events.line_filter import LineFilter
from phaseline.use_cases.queries.executions import ExecutionFilter


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"one.yaml": ONE, "two.yaml": TWO, "plugins/things.py": PLUGIN}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def shop(folder: Path) -> Iterator[phaseline.Phaseline]:
    with phaseline.open(f"sqlite:///{folder}/store.db") as opened:
        assert opened.executions.install(str(folder / "one.yaml"), "shop").is_good
        yield opened


def test_nodes_are_restricted_by_the_words_of_the_command(shop, folder: Path) -> None:
    assert shop.instances.restrict("shop", ["db"], forbid=["delete"]).is_good
    with pytest.raises(ProblemsError, match="PL-P049"):
        shop.deployments.update("shop", str(folder / "two.yaml"), allow_replace=True)
    assert shop.instances.restrict("shop", ["db"], lift=True).is_good
    with pytest.raises(
        ProblemsError, match=r"PL-C094 instances.restrict: forbid, lift and as_blueprint exclude each other"
    ):
        shop.instances.restrict("shop", ["db"], forbid=["delete"], lift=True)


@pytest.mark.parametrize(("actions", "stays"), [(["delete"], True), ((), False), (None, False)])
def test_actions_restrict_as_before(shop, folder: Path, actions: object, stays: bool) -> None:
    shop.instances.restrict("shop", ["db"], forbid=["delete", "replace"])
    with pytest.warns(
        DeprecationWarning, match=r"'actions' of instances\.restrict is replaced by 'forbid', 'lift', 'as_blueprint'"
    ):
        shop.instances.restrict("shop", ["db"], actions=actions)
    if stays:
        with pytest.raises(ProblemsError, match="PL-P049"):
            shop.deployments.update("shop", str(folder / "two.yaml"))
    else:
        assert shop.deployments.update("shop", str(folder / "two.yaml")).is_good


def test_how_cancels_as_before_and_a_wrong_word_is_told(shop) -> None:
    stopped = shop.executions.start("restart", "shop", detach=True)
    with pytest.warns(DeprecationWarning, match="'force', 'kill'"):
        assert shop.executions.cancel(stopped.id, how="force").status == "canceled"
    with (
        pytest.warns(DeprecationWarning, match="is replaced by"),
        pytest.raises(ProblemsError, match=r"how is 'forc' .did you mean 'force'"),
    ):
        shop.executions.cancel(stopped.id, how="forc")


def test_filters_of_before_are_those_of_today(shop) -> None:
    shop.executions.start("restart", "shop")
    assert shop.executions.list(workflow="restart", since="1h").total == 1
    with pytest.warns(DeprecationWarning, match="'by', 'since', 'text', 'caused_by'; the old name"):
        assert shop.executions.list(wanted=ExecutionFilter("completed", "restart"), status=None).total == 1
    assert shop.executions.list(since=shop.executions.show().created_at + 1).total == 0
    assert shop.executions.list(by="no one").total == 0
    found = shop.executions.events("install", node="db", phase="create")
    assert found.total
    with pytest.warns(DeprecationWarning, match="'node', 'phase', 'level', 'text'; the old name"):
        assert shop.executions.events("install", wanted=LineFilter("db", "create")).lines == found.lines
    with pytest.warns(DeprecationWarning, match="executions.logs"):
        assert shop.executions.logs(wanted=None).total == shop.executions.logs().total
    with (
        pytest.warns(DeprecationWarning, match="is replaced by"),
        pytest.raises(ProblemsError, match="wanted is a text, not a LineFilter"),
    ):
        shop.executions.logs(wanted="db")
    with pytest.raises(TypeError, match="got 'wanted' and 'node', which mean the same"):
        shop.executions.logs(wanted=LineFilter("db"), node="db")


def test_spans_are_written_as_in_the_commands_or_in_seconds(shop) -> None:
    first = shop.executions.purge("30d", dry_run=True).before_at
    assert first <= shop.executions.purge(2_592_000, dry_run=True).before_at < first + 86_400_000
    with pytest.warns(DeprecationWarning, match="'older_s' of executions.purge is called 'older' now"):
        shop.executions.purge(older_s=60.0, dry_run=True)
    with pytest.raises(ProblemsError, match=r"PL-C094 executions.purge: older: '30 days' is no age"):
        shop.executions.purge("30 days")
    with pytest.raises(ProblemsError, match="a number from 0 on"):
        shop.executions.purge(-1)
    with (
        pytest.warns(DeprecationWarning, match="'drain_s' of engine.stop is called 'drain' now"),
        pytest.raises(ProblemsError, match="drain is -1"),
    ):
        shop.engine.stop(drain_s=-1)


def test_an_update_takes_the_options_of_the_command(shop, folder: Path) -> None:
    two = str(folder / "two.yaml")
    plan = shop.plans.update("shop", two, skip_uninstall=True, skip_install=True)
    assert plan.text != shop.plans.update("shop", two).text
    done = shop.deployments.update("shop", two, skip_uninstall=True, ignore_failure=True, task_retries=0, timeout="10m")
    assert done.is_good
    kept = shop.ctx.store.execution(done.id).request
    assert {name: kept.parameters[name] for name in ("skip_uninstall", "ignore_failure")} == {
        "skip_uninstall": True,
        "ignore_failure": True,
    }
    assert (kept.retries.task_retries, kept.timeout_s) == (0, 600.0)
    before = {one.id for one in shop.instances.list(node="web").items}
    again = shop.deployments.update("shop", two, inputs={"port": 9}, reinstall=sorted(before))
    assert again.is_good
    assert shop.ctx.store.execution(again.id).request.parameters["reinstall_list"] == sorted(before)


def test_a_time_at_breakpoints_needs_a_breakpoint(shop, folder: Path) -> None:
    plan = shop.blueprints.plan(str(folder / "one.yaml"), "new", breakpoints=["pre-create=db"], break_timeout="5m")
    assert "pre-create" in plan.text
    with pytest.raises(ProblemsError, match=r"PL-C094 break_timeout is given without"):
        shop.plans.make("heal", "shop", break_timeout="5m")
    with pytest.raises(ProblemsError, match="break_timeout: 'soon' is no span of time"):
        shop.plans.make("heal", "shop", breakpoints=["pre-create=db"], break_timeout="soon")
