"""Scale from the command line: what is planned comes, what is under way is shown, who has gone is listed no more (W40-W44)."""

import json
from typing import Any

import pytest
from tests.cli.terminal import Terminal


@pytest.fixture
def app(terminal: Terminal) -> Terminal:
    """``base`` and two of ``top``, installed."""
    assert terminal.run("install", terminal.write(), "-d", "app").exit_code == 0
    return terminal


def scale(terminal: Terminal, *words: str) -> dict[str, Any]:
    given = [word for item in words for word in ("-p", item)]
    return terminal.ask("executions", "start", "scale", "-d", "app", "--task-retries", "0", *given)[1]


def ids(terminal: Terminal) -> list[str]:
    return [view["id"] for view in terminal.ask("instances", "list", "-d", "app")[1]["instances"]]


def test_w44_who_comes_is_who_the_plan_has_named(app: Terminal) -> None:
    before = set(ids(app))
    given = ("-p", "scalable_entity_name=top", "-p", "delta=2")
    (change,) = app.ask("plan", "scale", "-d", "app", *given)[1]["resized"]
    assert (change["before"], change["after"], change["comes"]) == (2, 4, 2)
    assert scale(app, "scalable_entity_name=top", "delta=2")["status"] == "completed"
    assert set(ids(app)) - before == set(change["added"])
    shown = app.ask("deployments", "show", "app")[1]
    assert (shown["nodes"], shown["instance_count"], shown["under_way"]) == ({"base": 1, "top": 4}, 5, "")


def test_n8_who_has_gone_is_listed_no_more_and_keeps_its_history(app: Terminal) -> None:
    before = set(ids(app))
    assert scale(app, "scalable_entity_name=top", "delta=-1")["status"] == "completed"
    (gone,) = before - set(ids(app))
    (row,) = app.ask("deployments", "list")[1]["deployments"]
    assert (row["instance_count"], row["states"]) == (2, {"started": 2})
    assert gone in app.run("executions", "events", "install-1").stdout


def test_w42_what_is_under_way_is_shown_and_blocks_until_it_is_aborted(app: Terminal) -> None:
    trouble = app.folder / "plugins" / "trouble"
    trouble.write_text("create top")
    answer = scale(app, "scalable_entity_name=top", "rollback_if_failed=false")
    assert answer["status"] == "failed"
    assert app.ask("deployments", "show", "app")[1]["under_way"] == f"top by {answer['id']}"
    assert f"under way   top by {answer['id']}" in app.run("deployments", "show", "app").stdout
    refused = app.run("executions", "start", "scale", "-d", "app", "-p", "scalable_entity_name=base")
    assert (refused.exit_code, "PL-P043" in refused.stderr) == (1, True)
    trouble.unlink()
    assert scale(app, "scalable_entity_name=base", "abort_started=true")["status"] == "completed"
    assert app.ask("deployments", "show", "app")[1]["nodes"] == {"base": 2, "top": 2}


def test_w42_what_fails_is_taken_back(app: Terminal) -> None:
    before = ids(app)
    (app.folder / "plugins" / "trouble").write_text("create top")
    answer = scale(app, "scalable_entity_name=top", "delta=2")
    assert (answer["status"], "taken back" in answer["reason"]) == ("failed", True)
    assert ids(app) == before


def test_w40_what_is_wrong_is_told_before_anything_begins(app: Terminal) -> None:
    found = app.run("executions", "start", "scale", "-d", "app", "-p", "scalable_entity_name=tpo")
    assert found.exit_code == 1
    assert "PL-N008" in found.stderr
    assert "did you mean 'top'?" in found.stderr
    assert len(app.ask("executions", "list", "-d", "app")[1]["executions"]) == 1
    assert json.loads(
        app.run("plan", "scale", "-d", "app", "-p", "scalable_entity_name=top", "-p", "delta=0", "--json").stdout
    )["reason"].startswith("delta is 0")
