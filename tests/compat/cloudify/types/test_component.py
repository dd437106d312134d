"""Components: install makes a deployment and installs it; uninstall leaves nothing (CO1 to CO13)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.compat.cloudify.types.estates import INNER, OUTER, Yard

import phaseline
from phaseline.model.problems.problem import ProblemsError
from phaseline.views.views import ExecutionView


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    found = Yard(tmp_path)
    with found.client:
        yield found


def test_a1_install_makes_a_deployment_and_uninstall_leaves_nothing(yard: Yard) -> None:
    client = yard.client
    done = client.executions.install(yard.app(), "app")
    assert (done.status, done.reason) == ("completed", ""), [each.message for each in done.failures]
    inner = client.deployments.show("db")
    assert inner.labels == {"csys-obj-parent": ["app"]}
    assert inner.inputs == {"size": 3}
    assert client.deployments.capabilities("app") == {"endpoint": "10.0.0.1"}
    (instance,) = client.instances.list(deployment="app").items
    shown = client.instances.show(instance.id).runtime_properties
    assert shown["deployment"] == {"id": "db", "ours": True}
    assert shown["blueprint"] == {"id": "app-db", "version": 1, "ours": True}
    assert shown["capabilities"] == {"endpoint": "10.0.0.1", "size": 3}
    assert yard.calls() == ["create db", "start db"]
    gone = client.executions.uninstall("app")
    assert gone.status == "completed", gone.failures
    assert yard.calls() == ["create db", "start db", "stop db"]
    assert [row.name for row in client.deployments.list().items] == ["app"]
    assert not client.blueprints.list()
    (instance,) = client.instances.list(deployment="app").items
    assert not client.instances.show(instance.id).runtime_properties


def many(count: int, deployment: str) -> str:
    """An outer blueprint with several instances of one Component."""
    return (
        OUTER.replace("{id: db, inputs: {size: 3}}", deployment)
        .replace("    properties:", f"    instances: {{deploy: {count}}}\n    properties:")
        .partition("capabilities:")[0]
    )


def names(yard: Yard) -> list[str]:
    return [row.name for row in yard.client.deployments.list().items]


def executions(yard: Yard) -> dict[str, ExecutionView]:
    """{id of an execution: its view}."""
    return {row.id: row for row in yard.client.executions.list().items}


def messages(view: ExecutionView) -> str:
    return "\n".join(failure.message for failure in view.failures)


TOP = """
  web:
    type: cloudify.nodes.Root
    relationships: [{type: cloudify.relationships.depends_on, target: db}]
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {implementation: ours.steps.base}
"""


def test_a5_a_failed_inner_execution_goes_on_when_the_outer_is_retried(yard: Yard) -> None:
    (yard.folder / "fail-start").touch()
    failed = yard.client.executions.install(yard.app(), "app", task_retries=0)
    assert failed.status == "failed"
    assert "install-2 of 'db' failed" in messages(failed)
    assert "lifecycle.start of server_" in messages(failed)
    assert "the disk of start is full" in messages(failed)
    (yard.folder / "fail-start").unlink()
    done = yard.client.executions.retry(failed.id)
    assert done.status == "completed", messages(done)
    assert executions(yard)["install-2"].attempt == 1
    assert set(executions(yard)) == {"install-1", "install-2"}
    assert yard.calls() == ["create db", "start db", "start db"]


def test_a5_a_retry_that_fails_again_fails_the_outer_again(yard: Yard) -> None:
    (yard.folder / "fail-start").touch()
    failed = yard.client.executions.install(yard.app(), "app", task_retries=0)
    again = yard.client.executions.retry(failed.id)
    assert again.status == "failed"
    assert executions(yard)["install-2"].attempt == 1
    assert yard.calls() == ["create db", "start db", "start db"]


def test_co11_a_clean_retry_is_passed_down(yard: Yard) -> None:
    (yard.folder / "fail-start").touch()
    failed = yard.client.executions.install(yard.app(), "app", task_retries=0)
    (yard.folder / "fail-start").unlink()
    done = yard.client.executions.retry(failed.id, clean=True)
    assert done.status == "completed", messages(done)
    assert {id: view.status for id, view in executions(yard).items()} == {
        "install-1": "completed", "install-2": "completed", "uninstall-3": "completed"
    }  # fmt: skip
    assert yard.calls() == ["create db", "start db", "stop db", "create db", "start db"]


def test_co5_what_is_installed_already_passes(yard: Yard) -> None:
    (yard.folder / "fail-base").touch()
    file = yard.app(
        OUTER.replace("capabilities:\n", TOP + "capabilities:\n", 1)
        + "plugins: {ours: {executor: central_deployment_agent, install: false}}\n"
    )
    failed = yard.client.executions.install(file, "app", task_retries=0)
    assert failed.status == "failed"
    (yard.folder / "fail-base").unlink()
    done = yard.client.executions.start("install", "app")
    assert done.status == "completed", messages(done)
    assert yard.calls().count("start db") == 1


def test_a7_numbers_are_the_smallest_free_ones(yard: Yard) -> None:
    yard.write("x/blueprint.yaml", INNER)
    yard.client.deployments.create(str(yard.folder / "x/blueprint.yaml"), "x-1")
    done = yard.client.executions.install(yard.app(many(5, "{id: x, auto_inc_suffix: true}")), "app")
    assert done.status == "completed", messages(done)
    assert names(yard) == ["app", "x-0", "x-1", "x-2", "x-3", "x-4", "x-5"]


def test_a8_twelve_instances_make_one_version_of_one_blueprint(yard: Yard) -> None:
    done = yard.client.executions.install(yard.app(many(12, "{id: x, auto_inc_suffix: true}")), "app")
    assert done.status == "completed", messages(done)
    assert names(yard) == sorted(["app", *(f"x-{number}" for number in range(12))])
    (row,) = yard.client.blueprints.list()
    assert (row.blueprint.id, row.versions) == ("app-db", 1)
    gone = yard.client.executions.uninstall("app")
    assert gone.status == "completed", messages(gone)
    assert names(yard) == ["app"]
    assert not yard.client.blueprints.list()


def test_co4_a_taken_id_fails_its_member(yard: Yard) -> None:
    yard.write("x/blueprint.yaml", INNER)
    yard.client.deployments.create(str(yard.folder / "x/blueprint.yaml"), "db")
    failed = yard.client.executions.install(yard.app(), "app", task_retries=0)
    assert failed.status == "failed"
    assert "PL-S010" in messages(failed)
    assert not yard.client.deployments.show("db").labels


def test_a9_filters_of_the_outer_are_not_those_of_the_inner(yard: Yard) -> None:
    yard.client.deployments.create(yard.app(), "app")
    done = yard.client.executions.start("install", "app", parameters={"node_ids": ["db"]})
    assert done.status == "completed", messages(done)
    assert yard.calls() == ["create db", "start db"]


EXTERNAL = OUTER.replace(
    "blueprint: {blueprint_archive: inner}\n        deployment: {id: db, inputs: {size: 3}}",
    "deployment: {id: db, external_resource: true}",
)


def test_a10_a_deployment_that_was_there_before_survives(yard: Yard) -> None:
    yard.app(EXTERNAL)
    inner = str(yard.folder / "app/inner/blueprint.yaml")
    yard.client.blueprints.upload(inner, "shared")
    yard.client.executions.install("shared", "db")
    done = yard.client.executions.install(str(yard.folder / "app/blueprint.yaml"), "app")
    assert done.status == "completed", messages(done)
    assert yard.calls() == ["create db", "start db"]  # it was installed already
    assert yard.client.deployments.capabilities("app") == {"endpoint": "10.0.0.1"}
    gone = yard.client.executions.uninstall("app")
    assert gone.status == "completed", messages(gone)
    assert yard.calls() == ["create db", "start db"]
    assert yard.client.deployments.show("db").labels == {}
    assert [row.blueprint.id for row in yard.client.blueprints.list()] == ["shared"]


def test_co5_a_deployment_that_was_there_before_is_installed_if_it_was_not(yard: Yard) -> None:
    yard.app(EXTERNAL)
    inner = str(yard.folder / "app/inner/blueprint.yaml")
    yard.client.blueprints.upload(inner, "shared")
    yard.client.deployments.create("shared", "db")
    done = yard.client.executions.install(str(yard.folder / "app/blueprint.yaml"), "app")
    assert done.status == "completed", messages(done)
    assert yard.calls() == ["create db", "start db"]


def test_a11_a_blueprint_that_a_user_has_stored_survives(yard: Yard) -> None:
    file = yard.app(OUTER.replace("{blueprint_archive: inner}", "{id: pg, blueprint_archive: inner}"))
    yard.client.blueprints.upload(str(yard.folder / "app/inner"), "pg")
    assert yard.client.executions.install(file, "app").status == "completed"
    assert yard.client.executions.uninstall("app").status == "completed"
    assert [str(row.blueprint) for row in yard.client.blueprints.list()] == ["pg@1"]


def test_a12_a_blueprint_that_contains_itself_ends_at_the_depth_of_the_setting(yard: Yard) -> None:
    nested = """
tosca_definitions_version: cloudify_dsl_1_5
imports: [cloudify/types/types.yaml]
node_templates:
  db:
    type: cloudify.nodes.Component
    properties:
      resource_config:
        blueprint: {id: self, blueprint_archive: .}
"""
    failed = yard.client.executions.install(yard.write("self/blueprint.yaml", nested), "app", task_retries=0)
    assert failed.status == "failed"
    assert "PL-C111 more than 8 executions would wait for one another: install-1 of app →" in messages(failed)
    assert len(names(yard)) == 10
    gone = yard.client.executions.uninstall("app")
    assert gone.status == "completed", messages(gone)
    assert names(yard) == ["app"]
    assert not yard.client.blueprints.list()


def test_a16_a_secret_that_is_there_already_makes_nothing(yard: Yard) -> None:
    file = yard.app(
        OUTER.replace("    properties:\n", "    properties:\n      secrets: {key: value-of-app, other: x-y-z-12}\n")
    )
    yard.client.secrets.create("key", "value-of-somebody")
    failed = yard.client.executions.install(file, "app", task_retries=0)
    assert failed.status == "failed"
    assert "PL-C112" in messages(failed)
    assert names(yard) == ["app"]
    assert [row.name for row in yard.client.secrets.list()] == ["key"]


def test_co3_what_a_component_has_made_is_needed_until_it_is_gone(yard: Yard) -> None:
    file = yard.app(many(2, "{id: x, auto_inc_suffix: true}"))
    assert yard.client.executions.install(file, "app").status == "completed"
    of = yard.client.deployments.dependencies("app").of
    assert of is not None
    assert [(one.provider, one.kind, one.place) for one in of] == [
        ("x-0", "component", "db"),
        ("x-1", "component", "db"),
    ]
    assert yard.client.deployments.show("x-0").consumers == ["app"]
    with pytest.raises(ProblemsError) as caught:
        yard.client.executions.uninstall("x-0")
    (problem,) = caught.value.problems
    assert (problem.code, "app (db)" in problem.message) == ("PL-C131", True)
    assert yard.client.executions.uninstall("app").status == "completed"
    assert yard.client.deployments.dependencies("app").of == []


def test_co5_what_was_there_before_is_needed_too(yard: Yard) -> None:
    yard.app(EXTERNAL)
    yard.client.executions.install(str(yard.folder / "app/inner/blueprint.yaml"), "db")
    assert yard.client.executions.install(str(yard.folder / "app/blueprint.yaml"), "app").status == "completed"
    with pytest.raises(ProblemsError) as caught:
        yard.client.executions.uninstall("db")
    assert caught.value.problems[0].code == "PL-C131"
    assert yard.client.executions.uninstall("app").status == "completed"
    assert yard.client.executions.uninstall("db").status == "completed"


def test_co3_secrets_are_made_with_the_deployment_and_deleted_with_it(yard: Yard) -> None:
    file = yard.app(OUTER.replace("    properties:\n", "    properties:\n      secrets: {key: value-of-app}\n"))
    assert yard.client.executions.install(file, "app").status == "completed"
    assert yard.client.secrets.show("key", reveal=True).value == "value-of-app"
    assert yard.client.executions.uninstall("app").status == "completed"
    assert not yard.client.secrets.list()


def test_co8_after_a_time_out_the_inner_execution_goes_on_and_a_retry_waits_for_it(yard: Yard) -> None:
    slow = INNER.replace("ours.steps.start", "ours.steps.hold")
    timed = OUTER.replace(
        "    properties:\n",
        "    interfaces:\n      cloudify.interfaces.lifecycle:\n        start: {inputs: {timeout: 0}}\n"
        "    properties:\n",
    )
    failed = yard.client.executions.install(yard.app(timed, slow), "app", task_retries=0)
    assert failed.status == "failed"
    assert "install-2 of 'db' has not ended within 0 s, and still runs" in messages(failed)
    assert executions(yard)["install-2"].status == "running"


def test_co20_the_deployment_that_somebody_deleted_is_not_missed_on_the_way_down(yard: Yard) -> None:
    yard.client.executions.install(yard.app(), "app")
    yard.client.executions.uninstall("db", force=True)
    yard.client.deployments.delete("db", force=True)
    gone = yard.client.executions.uninstall("app")
    assert gone.status == "completed", messages(gone)
    assert names(yard) == ["app"]


CANCELED = {"canceling", "canceled", "attention"}


def canceling(yard: Yard, **how: bool) -> tuple[ExecutionView, dict[str, ExecutionView]]:
    """Install three levels, cancel the outermost while the innermost call runs; return (its view, all views)."""
    yard.pipes()
    file = yard.three_levels(INNER.replace("ours.steps.start", "ours.steps.until_canceled"))
    url = f"sqlite:///{yard.folder}/store.db"
    with ThreadPoolExecutor(2) as pool, phaseline.open(url) as other:
        installed = pool.submit(yard.client.executions.install, file, "app", task_retries=0)
        yard.await_call()
        asked = pool.submit(other.executions.cancel, "install-1", **how)
        while other.executions.show("install-3").status not in CANCELED:
            pass
        yard.let_go()
        asked.result(30)
        view = installed.result(30)
    return view, executions(yard)


def test_a2_a_cancel_ends_three_levels_and_a_retry_calls_nothing_twice(yard: Yard) -> None:
    view, found = canceling(yard)
    assert view.status == "canceled"
    assert {id: each.status for id, each in found.items()} == dict.fromkeys(
        ("install-1", "install-2", "install-3"), "canceled"
    )
    done = yard.client.executions.retry("install-1")
    assert done.status == "completed", messages(done)
    assert {each.status for each in executions(yard).values()} == {"completed"}
    assert set(executions(yard)) == {"install-1", "install-2", "install-3"}
    assert sorted(yard.calls()) == ["create low", "until_canceled low"]
    assert yard.client.deployments.capabilities("app") == {"endpoint": "10.0.0.1"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (OUTER.replace("      resource_config:", "      client: {host: 10.0.0.9}\n      resource_config:"), "another manager"),
        (OUTER.replace("      resource_config:", "      plugins: {a: {}}\n      resource_config:"), "is to install plugins"),
        (OUTER.partition("    properties:")[0], "names no blueprint"),
        (OUTER.replace("blueprint_archive: inner", "main_file_name: a.yaml"), "names no blueprint"),
    ],
)  # fmt: skip
def test_co18_what_is_certainly_wrong_is_refused_before_anything_is_stored(yard: Yard, text: str, told: str) -> None:
    file = yard.app(text)
    for act in (yard.client.blueprints.validate, yard.client.blueprints.plan, yard.client.executions.install):
        with pytest.raises(ProblemsError) as caught:
            act(file)
        assert [(problem.code, told in problem.message) for problem in caught.value.problems] == [("PL-C114", True)]
    assert names(yard) == []
