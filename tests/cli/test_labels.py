"""Labels of deployments from the command line, and what functions see of them."""

import json

import pytest
from tests.cli.terminal import BLUEPRINT, Terminal

LABELLED = (BLUEPRINT.replace("dsl_1_3", "dsl_1_4") + "labels: {team: {values: [web, {get_input: word}]}}\n").replace(
    "outputs:\n", "outputs:\n  team: {value: {get_label: team}}\n"
)


@pytest.fixture
def shop(terminal: Terminal) -> Terminal:
    file = terminal.write(LABELLED)
    for name in ("shop", "stall"):
        assert terminal.run("deployments", "create", file, "-d", name).exit_code == 0
    return terminal


def names(terminal: Terminal, *labels: str) -> list[str]:
    words = [word for label in labels for word in ("--label", label)]
    return [each["name"] for each in terminal.ask("deployments", "list", *words)[1]["deployments"]]


def test_labels_come_from_the_blueprint_and_are_changed_by_hand(shop: Terminal) -> None:
    assert shop.ask("deployments", "show", "shop")[1]["labels"] == {"team": ["hello", "web"]}
    code, found = shop.ask(
        "deployments", "labels", "shop", "--add", "cost=5", "--add", "team=ops", "--remove", "team=web"
    )
    assert (code, found) == (
        0,
        {"deployment": "shop", "labels": {"cost": ["5"], "team": ["hello", "ops"]}, "added": 2, "removed": 1},
    )
    assert shop.run("deployments", "labels", "shop").stdout == "cost=5, team=hello, team=ops\n"
    assert "labels      cost=5, team=hello, team=ops" in shop.run("deployments", "show", "shop").stdout
    assert "has no labels" in shop.run("deployments", "labels", "stall", "--remove", "team").stdout


@pytest.mark.parametrize("words", [("install",), ("deployments", "create")])
def test_labels_are_given_when_it_is_made(terminal: Terminal, words: tuple[str, ...]) -> None:
    file, given = terminal.write(LABELLED), ("--label", "team=ops", "--label", "cost=5", "--label", "team=web")
    assert terminal.run(*words, file, "-d", "shop", *given).exit_code == 0
    labels = terminal.ask("deployments", "show", "shop")[1]["labels"]
    assert labels == {"cost": ["5"], "team": ["hello", "ops", "web"]}
    code, found = terminal.ask(*words, file, "-d", "other", "--label", "team")
    assert (code, found["problems"][0]["code"]) == (1, "PL-C068")
    assert names(terminal) == ["shop"]


def test_a_label_that_was_given_and_removed_does_not_come_back_with_an_update(terminal: Terminal) -> None:
    file = terminal.write(LABELLED)
    given = ("--label", "cost=5", "--label", "team=ops", "--label", "csys-breakpoint=pre-create=base")
    assert terminal.run("deployments", "create", file, "-d", "shop", *given).exit_code == 0
    gone = ("--remove", "cost", "--remove", "team=ops", "--remove", "csys-breakpoint", "--remove", "team=web")
    assert terminal.ask("deployments", "labels", "shop", *gone, "--add", "mine=1")[1]["removed"] == 4
    for _ in range(2):
        assert terminal.run("deployments", "update", "shop", file, "-i", "word=servus").exit_code == 0
        labels = terminal.ask("deployments", "show", "shop")[1]["labels"]
        assert labels == {"mine": ["1"], "team": ["hello", "servus", "web"]}, "what the blueprint says is added"


def test_h_a_quota_that_wants_a_label_is_content_with_one_that_is_given(terminal: Terminal) -> None:
    file = terminal.write(LABELLED)
    quota = {"class": "phaseline.policies.quotas:Quota", "name": "q", "options": {"key": "group", "required": True}}
    quota["options"] |= {"most": {"*": 50}}
    terminal.environment["PHASELINE_HOOKS_CLASSES"] = json.dumps([quota])
    assert terminal.run("plan", "install", file, "-d", "shop").exit_code == 1
    assert terminal.run("plan", "install", file, "-d", "shop", "--label", "group=web").exit_code == 0
    assert terminal.run("install", file, "-d", "shop").exit_code == 1
    assert terminal.run("install", file, "-d", "shop", "--label", "group=web").exit_code == 0


def test_deployments_are_found_by_all_their_labels(shop: Terminal) -> None:
    shop.run("deployments", "labels", "shop", "--add", "cost=5")
    assert names(shop, "team") == ["shop", "stall"]
    assert names(shop, "team=web", "cost") == ["shop"]
    assert names(shop, "team=nobody") == []


@pytest.mark.parametrize(
    "words",
    [
        ("--add", "team"),
        ("--add", "=x"),
        ("--add", "ä=x"),
        ("--add", "a="),
        ("--remove", "a="),
        ("--add", "a=" + "x" * 300),
    ],
)
def test_what_is_no_label_is_told_and_changes_nothing(shop: Terminal, words: tuple[str, str]) -> None:
    code, found = shop.ask("deployments", "labels", "shop", "--add", "good=yes", *words)
    assert (code, found["problems"][0]["code"]) == (1, "PL-C068")
    assert shop.ask("deployments", "labels", "shop")[1]["labels"] == {"team": ["hello", "web"]}


def test_b41_get_label_sees_the_labels_as_they_are_now(shop: Terminal) -> None:
    shop.run("deployments", "labels", "shop", "--add", "team=ops", "--remove", "team=web")
    assert shop.ask("deployments", "outputs", "shop")[1]["outputs"]["team"] == ["hello", "ops"]
