"""The pages that are installed: found by name, by the code of an error, and by the words of a question."""

from pathlib import Path

import pytest

from phaseline.app.manual import ManualPage, manual_folder, read_manual, search_manual, section_of
from phaseline.model.problems.codes import CODES

PAGES = read_manual()
QUESTIONS = {
    "retry only what failed": "operators",
    "why does it wait": "operators",
    "kill -9 crash resume": "crash-safety",
    "write a plugin": "first-plugin",
    "test a plugin": "testing",
    "approve a plan before it runs": "policies",
    "keep a password out of the blueprint": "secrets",
    "scale a node": "day-2",
    "users of Heat": "coming-from-heat",
    "cfy executions": "coming-from-cfy",
    "quota": "policies",
    "what is an incarnation": "glossary",
}


def test_pages_of_a_clone_are_those_of_its_folder() -> None:
    assert (manual_folder() / "tutorial.md").is_file()
    assert {"tutorial", "errors/PL-B", "adr/0006-dependencies"} <= {page.name for page in PAGES}


def test_a_page_says_its_kind_and_its_result() -> None:
    page = next(page for page in PAGES if page.name == "first-plugin")
    assert (page.kind, page.title) == ("Tutorial", "Write your first plugin")
    assert page.result


@pytest.mark.parametrize("code", CODES)
def test_each_code_has_its_section(code: str) -> None:
    section = section_of(PAGES, code.lower())
    assert section is not None
    assert section.startswith(f"## {code} ")
    assert "**Mend:**" in section


def test_no_section_for_a_code_that_does_not_exist() -> None:
    assert section_of(PAGES, "PL-Z999") is None


@pytest.mark.parametrize(("question", "page"), QUESTIONS.items())
def test_a_question_finds_its_page_among_the_first_three(question: str, page: str) -> None:
    assert page in [hit.page for hit in search_manual(PAGES, question)[:3]]


def test_words_that_no_page_has_find_nothing() -> None:
    assert search_manual(PAGES, "zzyzx") == ()


def test_a_question_of_small_words_only_is_still_asked() -> None:
    pages = (ManualPage("a", "A", "Guide", "", "# A\n\nwhat it is\n"),)
    assert [hit.page for hit in search_manual(pages, "what is it")] == ["a"]


def test_a_heading_in_a_block_of_code_is_no_section(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\n```bash\n# install it\n```\n\n## Remove\n\ntext\n", "utf-8")
    (hit,) = search_manual(read_manual(tmp_path), "install")
    assert hit.title == "A"


def test_a_folder_below_is_part_of_the_name(tmp_path: Path) -> None:
    (tmp_path / "errors").mkdir()
    (tmp_path / "errors/PL-X.md").write_text("no heading", "utf-8")
    assert [(page.name, page.title, page.kind) for page in read_manual(tmp_path)] == [("errors/PL-X", "PL-X", "")]
