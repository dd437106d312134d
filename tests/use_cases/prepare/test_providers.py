"""A23–A37: deployments that read one another, with a store on disk and a real engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.use_cases.estates import ASKS, NET, Files, consumer, properties

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.dependencies import Dependency

CREATE = {"operation": "cloudify.interfaces.lifecycle.create"}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def records(client, deployment):
    """The stored records of a deployment."""
    store = client.app.store.of("default_tenant")
    return store.dependencies.of(store.deployment(deployment).number)


def test_a34_ten_thousand_members_read_one_capability_in_one_evaluation_and_one_call(files: Files) -> None:
    net = files.write("net", NET)
    seen = "{get_capability: [net, ports, web, 1]}"
    app = files.write("app", consumer("{get_capability: [net, address]}", seen=seen, count=10_000))
    with files.open() as client:
        client.executions.install(net, "net")
        assert client.executions.install(app, "app").status == "completed"
        assert properties(client, "app") == {"said": "10.0.0.1", "seen": 443, "ip": None}
    assert files.calls("app") == [10_000]


def test_dp2_outputs_are_evaluated_when_they_are_asked_for(files: Files) -> None:
    net = files.write("net", NET)
    more = "outputs: {url: {value: {concat: ['http://', {get_capability: [net, address]}]}}}\n"
    app = files.write("app", consumer("text", more=more))
    with files.open() as client:
        client.deployments.create(net, "net")
        client.deployments.create(app, "app")
        assert client.deployments.outputs("app") == {"url": "http://None"}  # DP4: null, as the attribute is not there
        client.executions.start("install", "net")
        assert client.deployments.outputs("app") == {"url": "http://10.0.0.1"}


def test_dp12_missing_providers_are_refused_all_at_once_before_anything_is_stored(files: Files) -> None:
    files.write("net", NET)
    app = files.write("app", consumer("{get_capability: [nett, address]}", seen="{get_capability: [other, x]}"))
    with files.open() as client:
        client.deployments.create(str(files.folder / "net" / "blueprint.yaml"), "net")
        for make in (client.executions.install, client.deployments.create):
            with pytest.raises(ProblemsError) as caught:
                make(app, "app")
            found = {one.place.path: one for one in caught.value.problems}
            assert {one.code for one in found.values()} == {"PL-B170"}
            assert found["nodes.web.properties.seen"].message.startswith("there is no deployment 'other'")
            path = "nodes.web.operations.cloudify.interfaces.lifecycle.create.inputs.said"
            assert found[path].mend == "did you mean 'net'?"
        assert [view.name for view in client.deployments.list().items] == ["net"]
        view = client.deployments.create(app, "app", allow_missing_providers=True)
        assert view.name == "app"
        assert {
            one.code for one in client.blueprints.plan(app).warnings or client.blueprints.plan(app).summary.warnings
        } == {"PL-B170"}


def test_dp4_a_provider_that_is_inactive_is_warned_of(files: Files) -> None:
    net, app = files.write("net", NET), files.write("app", ASKS)
    with files.open() as client:
        client.deployments.create(net, "net")
        (warning,) = client.blueprints.plan(app, "app").summary.warnings
        assert (warning.code, warning.place.subject) == ("PL-P060", "net")
        assert client.executions.install(app, "app").status == "completed"
        assert properties(client, "app")["said"] is None


def test_dp5_static_records_are_stored_with_the_deployment_and_follow_its_updates(files: Files) -> None:
    net, app = files.write("net", NET), files.write("app", ASKS)
    path = "nodes.web.operations.cloudify.interfaces.lifecycle.create.inputs.said"
    with files.open() as client:
        client.executions.install(net, "net")
        client.executions.install(net, "net2")
        client.executions.install(app, "app")
        first = Dependency("capability", path, '{"get_capability":["net","address"]}', "net")
        assert records(client, "app") == [first]
        again = files.write("again", consumer("{get_capability: [net2, address]}"))
        assert client.deployments.update("app", again).status == "completed"
        assert records(client, "app") == [
            first._replace(function='{"get_capability":["net2","address"]}', provider="net2")
        ]


def test_a24_a_computed_provider_is_recorded_when_it_is_first_used_without_the_value_of_the_secret(
    files: Files,
) -> None:
    net = files.write("net", NET)
    app = files.write("app", consumer("{get_capability: [{get_secret: where}, address]}"))
    with files.open() as client:
        client.secrets.create("where", "net")
        client.executions.install(net, "net")
        client.deployments.create(app, "app")
        (before,) = records(client, "app")
        assert (before.provider, before.number) == ("", 0)
        assert client.executions.start("install", "app").status == "completed"
        (after,) = records(client, "app")
        assert (after.number, after.provider) == (client.app.store.deployment("net").number, "")
        assert after.function == '{"get_capability":[{"get_secret":"where"},"address"]}'
        client.executions.install(net, "net2")
        client.secrets.update("where", "net2")
        assert client.executions.start("restart", "app").status == "completed"  # DP5: computed again at its end
        (moved,) = records(client, "app")
        assert moved.number == client.app.store.deployment("net2").number


def test_a26_a_circle_is_refused_when_it_is_created(files: Files) -> None:
    one = files.write("a", consumer("{get_capability: [b, x]}"))
    two = files.write("b", consumer("{get_capability: [a, x]}"))
    with files.open() as client:
        client.deployments.create(one, "a", allow_missing_providers=True)
        with pytest.raises(ProblemsError) as caught:
            client.deployments.create(two, "b")
        (found,) = caught.value.problems
        assert (found.code, "b → a → b" in found.message) == ("PL-C130", True)
        assert [view.name for view in client.deployments.list().items] == ["a"]


def test_a26_a_circle_by_late_functions_is_a_warning_at_the_end_of_the_execution(files: Files) -> None:
    more = "capabilities: {x: {value: 1}}\n"
    net = files.write("a", consumer("{get_capability: [{get_secret: to_b}, x]}", more=more))
    app = files.write("b", consumer("{get_capability: [a, x]}", more=more))
    with files.open() as client:
        client.secrets.create("to_b", "b")
        client.deployments.create(net, "a")
        client.executions.install(app, "b")
        view = client.executions.start("install", "a")
        assert view.status == "completed"
        assert any("read one another in a circle" in line.text for line in client.executions.events(view.id).lines)


def test_a28_an_environment_capability_without_parent_is_named_before_anything_is_stored(files: Files) -> None:
    app = files.write("app", consumer("{get_environment_capability: address}"))
    with files.open() as client:
        with pytest.raises(ProblemsError) as caught:
            client.executions.install(app, "app")
        (found,) = caught.value.problems
        assert found.code == "PL-B170"
        assert "--label csys-obj-parent=NAME" in found.mend
        assert client.deployments.list().total == 0


def test_dp14_the_capabilities_of_the_parent_are_checked_on_their_values(files: Files) -> None:
    net = files.write("net", NET)
    labels = ["csys-obj-parent=net"]
    with files.open() as client:
        client.executions.install(net, "net")
        for at, (asked, code) in enumerate(
            (
                ("addrez", "PL-B074"),
                ("[ports, ssh]", "PL-B074"),
                ("[ports, web, 9]", "PL-B074"),
                ("[address, 0]", "PL-B074"),
            )
        ):
            app = files.write(f"bad{at}", consumer(f"{{get_environment_capability: {asked}}}"))
            with pytest.raises(ProblemsError, match=code):
                client.executions.install(app, "app", labels=labels)
        app = files.write("app", consumer("{get_environment_capability: [ports, web, 0]}"))
        assert client.executions.install(app, "app", labels=labels).status == "completed"
        assert properties(client, "app")["said"] == 80


def test_dp14_what_is_not_known_yet_counts_as_there_with_a_warning(files: Files) -> None:
    net = files.write("net", NET)
    app = files.write("app", consumer("{get_environment_capability: [address, deep]}"))
    with files.open() as client:
        client.deployments.create(net, "net")
        plan = client.blueprints.plan(app, "app", labels=["csys-obj-parent=net"])
        assert {one.code for one in plan.summary.warnings} == {"PL-P060", "PL-P061"}
        client.deployments.create(app, "app", labels=["csys-obj-parent=net"])


def test_a36_a_secret_capability_is_masked_in_the_consumer(files: Files) -> None:
    net = files.write("net", NET + "  key: {value: {concat: ['k', {get_secret: token}]}}\n")
    more = "outputs: {key: {value: {get_capability: [net, key]}}}\n"
    app = files.write("app", consumer("{string_upper: {get_capability: [net, key]}}", more=more))
    with files.open() as client:
        client.secrets.create("token", "s3cr3t-of-net")
        client.executions.install(net, "net")
        assert client.executions.install(app, "app").status == "completed"
        assert client.deployments.outputs("app") == {"key": "(hidden)"}
        assert client.deployments.outputs("app", reveal=True) == {"key": "ks3cr3t-of-net"}
        assert properties(client, "app")["said"] == "(hidden)"
    stored = b"".join(file.read_bytes() for file in files.folder.glob("store.db*"))
    assert b"s3cr3t-of-net" not in stored
    assert b"KS3CR3T-OF-NET" not in stored


def test_a37_a_deleted_provider_fails_the_next_read_without_a_retry_and_nothing_else(files: Files) -> None:
    net, app = files.write("net", NET), files.write("app", ASKS)
    with files.open() as client:
        client.executions.install(net, "net")
        client.executions.install(app, "app")
        client.deployments.delete("net", force=True)
        assert client.executions.start("check_status", "app").status == "completed"
        view = client.executions.start("execute_operation", "app", parameters=CREATE)
        assert view.status == "failed"
        (failure,) = view.failures
        assert "there is no deployment 'net'" in str(failure) + view.reason
        assert client.executions.uninstall("app").status == "completed"


def test_dp13_consumers_are_counted_by_records_and_children_by_their_label(files: Files) -> None:
    net = files.write("net", NET + "  who: {value: {get_consumers: ids}}\n  many: {value: {get_consumers: count}}\n")
    with files.open() as client:
        client.executions.install(net, "net")
        client.deployments.create(files.write("app", ASKS), "app")
        client.deployments.create(files.write("shop", consumer("text")), "shop", labels=["csys-obj-parent=net"])
        found = client.deployments.capabilities("net")
        assert (found["who"], found["many"]) == (["app", "shop"], 2)
        client.deployments.delete("app")
        assert client.deployments.capabilities("net")["who"] == ["shop"]
