"""``phaseline --request-id ID …``: an order that is given again is answered, not carried out twice."""

import json
from collections.abc import Sequence

import pytest
from tests.cli.terminal import Terminal

WORDS: Sequence[Sequence[str]] = (
    ("install", "blueprint.yaml", "-d", "shop"),
    ("deployments", "create", "blueprint.yaml", "-d", "shop"),
)


@pytest.fixture
def shop(terminal: Terminal) -> Terminal:
    terminal.write()
    return terminal


def given(terminal: Terminal, *words: str, id: str = "r-1") -> dict[str, object]:
    result = terminal.run("--request-id", id, *words, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("words", WORDS)
def test_the_answer_says_whether_it_is_repeated(shop: Terminal, words: Sequence[str]) -> None:
    first, second = given(shop, *words), given(shop, *words)
    assert (first.pop("is_repeated"), second.pop("is_repeated")) == (False, True)
    assert second == first


def test_without_a_request_id_answers_have_no_word_of_it(shop: Terminal) -> None:
    _, found = shop.ask("install", "blueprint.yaml", "-d", "shop")
    assert "is_repeated" not in found


def test_a_person_is_told_that_nothing_is_done_twice(shop: Terminal) -> None:
    shop.run("--request-id", "r-1", "install", "blueprint.yaml", "-d", "shop")
    again = shop.run("--request-id", "r-1", "install", "blueprint.yaml", "-d", "shop")
    assert again.exit_code == 0
    assert "r-1' was given before" in again.stderr
    assert "install-1" in again.stdout
    _, found = shop.ask("executions", "list")
    assert found["total"] == 1


def test_the_exit_code_is_that_of_the_first(shop: Terminal) -> None:
    shop.trouble("base")
    words = ("--request-id", "r-1", "install", "blueprint.yaml", "-d", "shop", "--task-retries", "0")
    assert [shop.run(*words).exit_code for _ in range(2)] == [1, 1]
    _, found = shop.ask("executions", "list")
    assert found["total"] == 1


def test_another_order_under_the_same_id_is_refused(shop: Terminal) -> None:
    given(shop, "install", "blueprint.yaml", "-d", "shop")
    result = shop.run("--request-id", "r-1", "uninstall", "-d", "shop")
    assert result.exit_code == 1
    assert "PL-C097" in result.stderr
    _, found = shop.ask("executions", "list")
    assert found["total"] == 1


def test_a_deployment_that_was_deleted_is_deleted_once(shop: Terminal) -> None:
    given(shop, "install", "blueprint.yaml", "-d", "shop")
    words = ("deployments", "delete", "shop", "--force")
    first, second = given(shop, *words, id="r-2"), given(shop, *words, id="r-2")
    assert (first.pop("is_repeated"), second.pop("is_repeated")) == (False, True)
    assert second == first
    given(shop, "deployments", "create", "blueprint.yaml", "-d", "shop", id="r-3")
    plain = [given(shop, "deployments", "delete", "shop", id="r-4") for _ in range(2)]
    assert [one["is_repeated"] for one in plain] == [False, True]


def test_a_command_that_gives_no_order_says_that_it_needs_no_id(shop: Terminal) -> None:
    given(shop, "install", "blueprint.yaml", "-d", "shop")
    result = shop.run("--request-id", "r-2", "deployments", "list", "--json")
    assert result.exit_code == 0
    assert "is_repeated" not in json.loads(result.stdout)
    assert "the request id was not used: this command makes no request" in result.stderr


@pytest.mark.parametrize("id", ["", "a/b"])
def test_what_is_no_request_id_is_refused(shop: Terminal, id: str) -> None:
    result = shop.run("--request-id", id, "install", "blueprint.yaml")
    assert result.exit_code == 1
    assert "PL-C094" in result.stderr
