"""DP11: which deployments a deployment reads, and which read it, as lists and as trees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.use_cases.estates import ASKS, NET, Files, consumer

from phaseline.cli.command_tree import root
from phaseline.model.problems.problem import ProblemsError


@pytest.fixture
def files(tmp_path: Path) -> Files:
    found = Files(tmp_path)
    with found.open() as client:
        client.secrets.create("where", "app")
        client.deployments.create(found.write("net", NET), "net")
        client.deployments.create(found.write("app", ASKS), "app")
        child = consumer("{get_environment_capability: [ports, web]}", seen="{get_capability: [app, x]}")
        client.deployments.create(found.write("child", child), "child", labels=["csys-obj-parent=net"])
        late = consumer("{get_capability: [{get_secret: where}, x]}", seen="{get_capability: [gone, x]}")
        client.deployments.create(found.write("late", late), "late", allow_missing_providers=True)
    return found


def asked(files: Files, *words: str) -> str:
    found = CliRunner().invoke(root, ["--store", f"sqlite:///{files.folder}/store.db", "deployments", *words])
    assert found.exit_code == 0, found.output
    return found.output


def test_dp11_a_provider_names_its_consumers_with_node_and_property(files: Files) -> None:
    with files.open() as client:
        found = client.deployments.dependencies("net")
    assert found.of == []
    assert [(one.consumer, one.kind, one.place) for one in found.on or ()] == [
        ("app", "capability", "web.said"),
        ("child", "parent", "csys-obj-parent"),
        ("child", "environment", "web.said"),
    ]


def test_dp11_a_consumer_names_providers_that_are_missing_or_not_known_yet(files: Files) -> None:
    with files.open() as client:
        found = client.deployments.dependencies("late", on=False)
    assert found.on is None
    assert {(one.provider, one.is_missing, one.place) for one in found.of or ()} == {
        ("", False, "web.said"),
        ("gone", True, "web.seen"),
    }
    output = asked(files, "dependencies", "late", "--of")
    assert "(known when it is read)" in output
    assert "gone (missing)" in output


def test_dp11_trees_go_through_all_levels_and_show_a_branch_once(files: Files) -> None:
    with files.open() as client:
        found = client.deployments.dependencies("net", tree=True)
    assert [(one.deployment, one.depth, one.is_again) for one in found.consumers or ()] == [
        ("app", 1, False),
        ("child", 2, False),
        ("child", 1, True),
    ]
    output = asked(files, "dependencies", "child", "--of", "--tree")
    assert output.splitlines()[1:] == [
        "  app: not_installed (web.seen)",
        "    net: not_installed (web.said)",
        "  net: not_installed (web.said, csys-obj-parent, shown above)",
    ]


def test_dp11_without_a_direction_both_are_told_and_json_has_null_for_what_was_not_asked(files: Files) -> None:
    assert "'app' reads" in (output := asked(files, "dependencies", "app"))
    assert "'app' is read by" in output
    found = json.loads(asked(files, "dependencies", "app", "--on", "--json"))
    assert (found["of"], [one["consumer"] for one in found["on"]]) == (None, ["child"])
    assert asked(files, "dependencies", "child", "--on").strip() == "no other deployment reads 'child'"


def test_dp11_show_names_providers_and_consumers(files: Files) -> None:
    output = asked(files, "show", "app")
    assert "reads       net (web.said)" in output
    assert "read by     child" in output
    found = json.loads(asked(files, "show", "child", "--json"))
    assert found["providers"] == {"app": ["web.seen"], "net": ["web.said", "csys-obj-parent"]}
    assert (found["consumers"], found["consumer_count"]) == ([], 0)


def test_dp11_an_unknown_deployment_is_refused(files: Files) -> None:
    with files.open() as client, pytest.raises(ProblemsError, match="PL-C010"):
        client.deployments.dependencies("nett")
