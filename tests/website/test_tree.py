"""The tree of pages from which the site is built: every page says what it is, and links lead to where pages stand in the tree."""

import doctest
import re
from pathlib import Path
from types import ModuleType

import pytest

from tools import release
from tools.website import extras, pages, public_modules

DOCS = sorted((pages.ROOT / "docs").glob("*.md"))
GUIDES_MOST = 400
"""Lines of a page that is no reference, without its blocks of code."""
each_page = pytest.mark.parametrize(
    "page", [page for page in DOCS if page.name != "README.md"], ids=lambda page: page.stem
)


@each_page
def test_a_page_says_its_kind_its_reader_and_its_result(page: Path) -> None:
    assert pages.KIND.match(page.read_text("utf-8")), "**Guide** for READERS. You will have: RESULT."


@each_page
def test_a_page_that_is_no_reference_can_be_read_through(page: Path) -> None:
    text = page.read_text("utf-8")
    kind = pages.KIND.match(text)
    assert kind is not None
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert kind["kind"] == "Reference" or len(prose.splitlines()) <= GUIDES_MOST


@pytest.mark.parametrize(
    "text",
    ["# A\n\nText.\n\n", "# A\n\n**Essay** for all. You will have: it.\n\n", "**Guide** for a. You will have: b.\n\n"],
)
def test_a_page_that_does_not_say_it_is_found_out(text: str) -> None:
    assert pages.KIND.match(text) is None


@pytest.mark.parametrize("module", [pages, extras, release], ids=lambda module: module.__name__)
def test_examples_in_docstrings_run(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("docs/a.md", "[b](b.md#c)", "[b](b.md#c)"),
        ("docs/adr/1.md", "![p](../demo/act.svg)", "![p](../demo/act.svg)"),
        ("README.md", "[a](docs/a.md)", "[a](a.md)"),
        ("examples/01/README.md", "[a](../../docs/a.md)", "[a](../a.md)"),
        ("docs/a.md", "[e](../examples/01/README.md)", "[e](examples/01.md)"),
        ("docs/a.md", "[e](../examples/01)", "[e](examples/01.md)"),
        ("docs/a.md", "[s](../src/x.py)", "s"),
        ("docs/a.md", "[w](mailto:x)", "[w](mailto:x)"),
        ("docs/a.md", "[h](#here)", "[h](#here)"),
        ("docs/a.md", "[c](cli.md#phaseline-plan)", "[c](cli/plan.md#phaseline-plan)"),
        ("docs/a.md", "```\n[s](../src/x.py)\n```\n", "```\n[s](../src/x.py)\n```\n"),
    ],
)
def test_a_link_leads_to_the_place_in_the_tree(source: str, text: str, expected: str) -> None:
    places = {
        "README.md": "index.md",
        "docs/a.md": "a.md",
        "docs/b.md": "b.md",
        "docs/cli.md": "cli.md",
        "docs/adr/1.md": "adr/1.md",
        "docs/demo/act.svg": "demo/act.svg",
        "examples/01/README.md": "examples/01.md",
    }
    assert pages.rewrite(text, source, places, {"phaseline-plan": "cli/plan.md"}) == expected


def test_every_command_is_on_the_page_of_its_noun() -> None:
    text = (pages.ROOT / "docs/cli.md").read_text("utf-8")
    split = pages.split_commands(text)
    for head, page in pages.command_pages(text).items():
        heads = re.findall(r"^#+ (.+)$", split[page], re.MULTILINE)
        assert head in {line.replace(" ", "-") for line in heads}


def test_an_address_that_moved_is_told_to_a_reader() -> None:
    page = extras.redirect("../new.html#a&b")
    assert '<meta http-equiv="refresh" content="0; url=../new.html#a&amp;b">' in page
    assert '<a href="../new.html#a&amp;b">' in page


def test_the_builders_read_only_the_modules_of_public_names() -> None:
    src = pages.ROOT / "src"
    names = {file.relative_to(src).as_posix() for file in public_modules.public_files(src)}
    assert {"phaseline/__init__.py", "phaseline/planning.py", "phaseline/client/client.py"} < names
    assert len(names) * 4 < len(list(src.rglob("*.py")))


def test_a_name_is_followed_through_the_modules_that_hand_it_on(tmp_path: Path) -> None:
    texts = {
        "__init__.py": '__all__ = ["a"]\nfrom phaseline.one import a\n',
        "planning.py": "",
        "testing/__init__.py": "",
        "policies/__init__.py": "",
        "one.py": "from phaseline.two.three import b as a\nfrom phaseline.other import unused\n",
        "two/__init__.py": "",
        "two/three.py": "b = 1\n",
        "other.py": "unused = 1\n",
    }
    for name, text in texts.items():
        (tmp_path / "src/phaseline" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src/phaseline" / name).write_text(text, "utf-8")
    assert public_modules.copy(tmp_path / "copy", tmp_path) == len(texts) - 1
    assert not (tmp_path / "copy/phaseline/other.py").exists()
    assert (tmp_path / "copy/phaseline/two/three.py").read_text("utf-8") == "b = 1\n"
