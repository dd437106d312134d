"""``phaseline docs``: the pages of the installed version, without a store and without a network."""

import pytest
from tests.cli.terminal import Terminal


def test_without_a_word_it_lists_every_page_that_has_a_kind(terminal: Terminal) -> None:
    code, answer = terminal.ask("docs")
    assert code == 0
    assert answer["total"] == len(answer["pages"]) > 30
    assert {page["kind"] for page in answer["pages"]} == {"Tutorial", "Guide", "Concept", "Reference"}
    assert "tutorial" in [page["page"] for page in answer["pages"]]


def test_the_name_of_a_page_prints_it(terminal: Terminal) -> None:
    code, answer = terminal.ask("docs", "errors/PL-B")
    assert (code, answer["page"]) == (0, "errors/PL-B")
    assert answer["text"].startswith("# PL-B")


@pytest.mark.parametrize("word", ["PL-C120", "pl-c120"])
def test_the_code_of_an_error_prints_its_section(terminal: Terminal, word: str) -> None:
    code, answer = terminal.ask("docs", word)
    assert (code, answer["code"]) == (0, "PL-C120")
    assert answer["text"].startswith("## PL-C120 ")


def test_words_list_the_pages_that_answer_them(terminal: Terminal) -> None:
    code, answer = terminal.ask("docs", "retry", "what", "failed")
    assert code == 0
    assert "operators" in [hit["page"] for hit in answer["hits"][:3]]  # DO8: among the first three
    assert answer["total"] == len(answer["hits"]) <= 8


@pytest.mark.parametrize("word", ["zzyzx", "PL-Z999"])
def test_what_no_page_has_is_a_problem(terminal: Terminal, word: str) -> None:
    code, answer = terminal.ask("docs", word)
    assert (code, [problem["code"] for problem in answer["problems"]]) == (1, ["PL-C120"])
