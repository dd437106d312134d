"""Saved filters: kept canonically, used by lists, and nothing is stored of a wrong one (LB3)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.terminal import BLUEPRINT, PLUGIN

import phaseline
from phaseline import ProblemsError
from phaseline.client.client import Client


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """Three deployments: ``farm`` and ``shop`` in production, ``test`` not."""
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "made.py").write_text(PLUGIN)
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    with phaseline.open(f"sqlite:///{tmp_path}/store.db") as opened:
        for name, env in (("farm", "prod"), ("shop", "prod"), ("test", "test")):
            file = str(tmp_path / "blueprint.yaml")
            opened.deployments.create(file, name, inputs={"word": "hi"}, labels=[f"Env={env}"])
        yield opened


def names(client: Client, **filters: object) -> list[str]:
    return [view.name for view in client.deployments.list(**filters).items]  # type: ignore[arg-type]  # words of the method


def test_lb3_a_filter_is_kept_as_it_is_printed(client: Client) -> None:
    made = client.filters.create("prod", ["Env = [ prod , live ]", r"team is-not a\,b"])
    assert made.rules == ["env=[prod,live]", r"team is-not a\,b"]
    assert client.filters.show("prod") == made
    assert client.filters.list() == [made]
    assert client.filters.list(noun="blueprints") == []
    assert made.json_rules[1] == {"key": "team", "values": ["a,b"], "operator": "is_not", "type": "label"}


def test_lb3_lists_use_filters_and_rules_together(client: Client) -> None:
    client.filters.create("prod", ["env=prod"])
    assert names(client, filter="@prod") == ["farm", "shop"]
    assert names(client, filter="@prod", rules=["id starts-with s"]) == ["shop"]
    assert names(client, filter='labels.env == "PROD"', rules=["id ends-with m"]) == ["farm"]
    assert names(client, filter='size(name) == 4 && labels.env != "test"') == ["farm", "shop"]
    assert names(client, rules=["env!=prod"], status="not_installed") == ["test"]
    assert names(client, filter="size(name) == 4 || true", limit=1) == ["farm"]
    assert client.deployments.list(filter="size(name) == 4", limit=1).total == 3


def test_lb3_executions_are_those_of_the_deployments_of_a_filter(client: Client) -> None:
    client.filters.create("prod", ["env=prod"])
    for name in ("farm", "test"):
        client.executions.start("install", name)

    def found(**filters: object) -> list[str]:
        return [view.deployment for view in client.executions.list(**filters).items]  # type: ignore[arg-type]  # words of the method

    assert found(filter="@prod") == ["farm"]
    assert found(rules=["env!=prod"]) == ["test"]
    assert found(filter='deployment == "test" && status == "completed"') == ["test"]
    assert found(filter='labels.env == "prod" && attempt < 99') == ["farm"]
    assert found(filter='status == "failed"') == []


def test_lb3_a_wrong_filter_is_refused_and_nothing_is_stored(client: Client) -> None:
    for rules, codes in ((["env=", "foo contains x"], ["PL-C150", "PL-C151"]), ([], ["PL-C150"])):
        with pytest.raises(ProblemsError) as caught:
            client.filters.create("bad", rules)
        assert [problem.code for problem in caught.value.problems] == codes
    for name in ("", "a/b", "@x"):
        with pytest.raises(ProblemsError, match=r"PL-C094|name"):
            client.filters.create(name, ["env=prod"])
    assert client.filters.list() == []


def test_lb3_a_filter_that_is_there_stays_as_it_is(client: Client) -> None:
    client.filters.create("prod", ["env=prod"])
    with pytest.raises(ProblemsError, match=r"already"):
        client.filters.create("prod", ["env=dev"])
    assert client.filters.show("prod").rules == ["env=prod"]
    client.filters.create("prod", ["created_by=ann"], noun="blueprints")
    client.filters.delete("prod")
    assert [view.noun for view in client.filters.list()] == ["blueprints"]
    for call in (client.filters.show, client.filters.delete):
        with pytest.raises(ProblemsError, match=r"no filter 'prod' for deployments"):
            call("prod")
    with pytest.raises(ProblemsError, match=r"no filter 'prd'") as caught:
        names(client, filter="@prd")
    assert caught.value.problems[0].code == "PL-C152"


def test_lb4_a_filter_that_makes_no_sense_for_a_row_is_told(client: Client) -> None:
    with pytest.raises(ProblemsError) as caught:
        names(client, filter='instance_count > "x"')
    (problem,) = caught.value.problems
    assert (problem.code, "farm" in problem.message) == ("PL-C154", True)
