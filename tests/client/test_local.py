"""The Python interface does what the command line does, over the same store."""

import threading
from pathlib import Path

import pytest
from tests.catalog.phases.plugin_files import write_pair
from tests.cli.terminal import BLUEPRINT, PLUGIN

import phaseline
from phaseline import ProblemsError


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "shop"
    (folder / "plugins").mkdir(parents=True)
    (folder / "plugins" / "made.py").write_text(PLUGIN)
    (folder / "blueprint.yaml").write_text(BLUEPRINT)
    return str(folder / "blueprint.yaml")


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/store.db"


def test_a_whole_life_from_install_to_delete(file: str, url: str) -> None:
    with phaseline.open(url) as shop:
        assert shop.blueprints.validate(file).nodes == 2
        assert "create" in shop.blueprints.plan(file).text
        done = shop.executions.install(file, inputs={"word": "hi"})
        assert done.is_good
        assert shop.deployments.list().items[0].name == "shop"
        assert shop.deployments.inputs("shop")["word"] == "hi"
        assert shop.deployments.outputs("shop") == {"said": "hi"}
        assert shop.deployments.capabilities("shop") == {}
        assert shop.instances.list(state="started").total == 3
        base = shop.instances.list(node="base").items[0]
        assert shop.instances.show(base.id).runtime_properties == {"said": "hi"}
        assert shop.executions.uninstall("shop").is_good
        assert shop.executions.list().total == 2
        assert shop.deployments.delete("shop").name == "shop"


def test_a_program_gives_labels_when_it_makes_a_deployment(file: str) -> None:
    with phaseline.open("memory:") as shop:
        shop.executions.install(file, "shop", labels=["team=blue", "env=prod"])
        shop.deployments.create(file, "other", labels=["team=red"])
        assert [one.name for one in shop.deployments.list(labels=["team=blue"]).items] == ["shop"]
        assert [one.name for one in shop.deployments.list(labels=["team=red"]).items] == ["other"]
        with pytest.raises(phaseline.ProblemsError):
            shop.deployments.create(file, "third", labels=["team"])


def test_what_one_process_stored_another_one_finds(file: str, url: str) -> None:
    with phaseline.open(url) as first:
        first.deployments.create(file, "later")
    with phaseline.open(url) as second:
        assert second.deployments.show("later").states == {"uninitialized": 3}
        assert second.executions.start("install", "later").is_good


def test_a_failure_is_told_and_retried(file: str, url: str) -> None:
    trouble = Path(file).parent / "plugins" / "trouble"
    trouble.write_text("base")
    with phaseline.open(url) as shop:
        failed = shop.executions.install(file, task_retries=0, on_failure="stop")
        assert [failure.message for failure in failed.failures] == ["base is in trouble"]
        assert shop.instances.stuck().total
        top = shop.instances.list(node="top").items[0]
        assert shop.instances.why(top.id).reasons
        trouble.unlink()
        assert shop.executions.retry(failed.id).is_good
        assert "hello from base" in [line.text for line in shop.executions.logs(failed.id).lines]
        assert shop.executions.events(failed.id).lines


def test_what_is_detached_waits_for_an_engine_and_can_be_followed(file: str, url: str) -> None:
    with phaseline.open(url) as shop, phaseline.open(url) as watcher:
        begun = shop.executions.install(file, detach=True)
        assert not begun.status.is_ended
        assert shop.status().open_count == 1
        lines: list[str] = []
        follower = threading.Thread(
            target=lambda: lines.extend(line.text for line in watcher.executions.follow(begun.id))
        )
        follower.start()
        assert shop.engine.run().reason == "idle"
        follower.join(60)
        assert not follower.is_alive()
        assert any("hello from base" in line for line in lines)
        assert shop.executions.show(begun.id).is_good
        assert not shop.engine.status().is_running


def test_following_what_has_ended_gives_its_lines_and_ends(file: str) -> None:
    with phaseline.open("memory:") as shop:
        done = shop.executions.install(file)
        lines = list(shop.executions.follow(done.id))
    assert [line.at for line in lines] == sorted(line.at for line in lines)
    assert {"workflow_started", "workflow_succeeded", "info"} <= {line.level for line in lines}


def test_following_what_is_not_there_is_refused_at_once() -> None:
    with phaseline.open("memory:") as shop, pytest.raises(ProblemsError) as raised:
        shop.executions.follow("install-1")
    assert raised.value.problems[0].code == "PL-C011"


def test_settings_are_given_by_name(file: str, tmp_path: Path) -> None:
    with phaseline.open("memory:", plugins=["more"], settings={"run.threads": "3"}) as shop:
        assert shop.ctx.settings.threads == 3
        assert shop.ctx.settings.plugin_folders[0] == str(tmp_path / "more")


def test_wrong_settings_are_refused_all_at_once() -> None:
    with pytest.raises(ProblemsError) as raised:
        phaseline.open("memory:", settings={"run.threads": "none", "run.task_retries": "few"})
    assert [problem.code for problem in raised.value.problems] == ["PL-C003", "PL-C003"]


def test_old_executions_are_purged(file: str) -> None:
    with phaseline.open("memory:") as shop:
        shop.executions.install(file)
        shop.executions.uninstall("shop")
        shop.deployments.delete("shop")
        assert shop.executions.list().total == 2
        shop.executions.purge(0, dry_run=True)
        assert shop.executions.list().total == 2


def test_plugins_and_phases_are_nouns_of_their_own(tmp_path: Path, url: str) -> None:
    write_pair(tmp_path / "acme", "create")
    with phaseline.open(url, plugins=[str(tmp_path / "acme")]) as shop:
        assert [view.name for view in shop.phases.list(state="Allocation")] == ["Acme.Create"]
        assert shop.phases.show("acme.create").plugin == "create"
        assert [(view.name, view.kind) for view in shop.plugins.list()] == [("create", "phase")]
        assert shop.plugins.show("create").status == "good"
        assert shop.plugins.check().is_good
        assert shop.plugins.check(str(tmp_path / "acme" / "create.cfg")).phases == 1
        assert (shop.plugins.reload().pid, shop.plugins.reload().phases) == (0, 1)


def test_a_request_id_is_that_of_its_thread_and_of_its_block() -> None:
    seen: list[object] = []
    with phaseline.open("memory:") as shop:
        with shop.request_id("outer") as outer:
            assert shop.ctx.requested is outer
            with shop.request_id("inner") as inner:
                assert shop.ctx.requested is inner
                thread = threading.Thread(target=lambda: seen.append(shop.ctx.requested))
                thread.start()
                thread.join()
            assert shop.ctx.requested is outer
        assert (seen, shop.ctx.requested, shop.ctx.actor) == ([None], None, shop.app.user)
