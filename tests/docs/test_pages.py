"""The pages of the documentation keep their form: links lead somewhere, words have one sentence, decisions one page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "examples").rglob("*.md")])
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def anchors(page: Path) -> set[str]:
    """What can stand after ``#`` in a link to the page."""
    heads = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def table(page: Path) -> list[list[str]]:
    """Rows of the first table of a page, without head and rule."""
    lines = [line for line in page.read_text("utf-8").splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


GLOSSARY = re.findall(r"^- \*\*(.+?)\*\*: (.+)$", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)


def test_glossary_is_in_alphabetical_order_without_doubles() -> None:
    terms = [term.lower() for term, _ in GLOSSARY]
    assert terms == sorted(set(terms))


@pytest.mark.parametrize(("term", "sentence"), GLOSSARY, ids=[term for term, _ in GLOSSARY])
def test_glossary_gives_each_word_one_sentence(term: str, sentence: str) -> None:
    assert sentence.endswith("."), term
    assert len(re.findall(r"\.(?= [A-Z])", sentence)) == 0, "more than one sentence"


def test_glossary_has_the_words_of_the_model() -> None:
    classes = set()
    for path in (ROOT / "src/phaseline/model").glob("*.py"):
        classes.update(re.findall(r"^class (\w+)\b.*:$", path.read_text("utf-8"), re.MULTILINE))
    nouns = {"Blueprint", "Topology", "Graph", "Problem"} & classes
    terms = {term.lower() for term, _ in GLOSSARY}
    assert {noun.lower() for noun in nouns} <= terms


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = [int(path.name[:4]) for path in sorted((DOCS / "adr").glob("[0-9]*.md"))]
    assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize("page", sorted((DOCS / "adr").glob("[0-9]*.md")), ids=lambda page: page.stem)
def test_decision_has_its_four_parts_on_one_page(page: Path) -> None:
    text = page.read_text("utf-8")
    assert re.search(rf"^# {page.name[:4]}: .+$", text, re.MULTILINE)
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert heads == ["Context", "Choice", "What we give up", "How we would notice that it is wrong"]
    assert len(text.splitlines()) <= 60, "more than a page"


DEPARTURES = table(DOCS / "departures.md")


def test_departures_say_everything() -> None:
    assert DEPARTURES
    for row in DEPARTURES:
        assert len(row) == 5, "document and sentence | what we do | why | how to get the original | test"
        assert all(row), f"an empty cell beside '{row[0]}'"
        assert re.findall(r"`(\w+)`", row[4]), f"no word for the tests of '{row[0]}'"


def test_departures_are_proven_by_tests_of_their_name() -> None:
    defined = "\n".join(
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text("utf-8"))
    ).lower()
    words = {word: row[0] for row in DEPARTURES for word in re.findall(r"`(\w+)`", row[4])}
    unproven = [
        f"no test has '{word}' in its name: {sentence}"
        for word, sentence in words.items()
        if not re.search(rf"_{word}(_|$)", defined, re.MULTILINE)
    ]
    assert not unproven, "\n".join(unproven)


def test_changelog_keeps_its_form() -> None:
    heads = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert heads[0] == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)", head) for head in heads[1:])


def test_changelog_has_short_entries_with_their_issue() -> None:
    """At most 150 lines a release and two lines an entry: what a user can do now, and the number of its issue."""
    release = re.split(r"^## .+$", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1]
    entries = re.findall(r"^- .+(?:\n  .+)*", release, re.MULTILINE)
    assert set(re.findall(r"^### (.+)$", release, re.MULTILINE)) <= {"Added", "Changed", "Deprecated", "Fixed"}
    assert len(release.splitlines()) <= 150
    assert [entry for entry in entries if entry.count("\n") > 1 or not re.search(r"#\d+\)\.$", entry)] == []
    assert [line for line in release.splitlines() if len(line) > 100] == []


def test_readme_takes_two_minutes() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 130


def test_every_make_target_explains_itself_and_ci_runs_only_those() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):.* ## .+$", makefile, re.MULTILINE))
    phony = set(re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)[1].split())
    assert targets == phony
    called = set(re.findall(r"make --no-print-directory ([a-z]+)", (ROOT / ".ci/run").read_text("utf-8")))
    assert called <= targets
