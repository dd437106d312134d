"""The error catalogue and the table of codes say the same: each code one section, with meaning, example and mending."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from phaseline.model.problems.codes import CODES

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = ROOT / "docs/errors"
SECTION = re.compile(r"^## (?P<code>PL-[A-Z]\d{3}) (?P<title>.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What the catalogue says about one code."""

    code: str
    title: str
    body: str
    file: Path


def sections() -> list[Section]:
    """All sections of all areas, in the order in which they are read."""
    found = []
    for file in sorted(CATALOGUE.glob("PL-*.md")):
        text = file.read_text("utf-8")
        heads = list(SECTION.finditer(text))
        ends = [head.start() for head in heads[1:]] + [len(text)]
        for head, end in zip(heads, ends, strict=True):
            found.append(Section(code=head["code"], title=head["title"], body=text[head.end() : end], file=file))
    return found


SECTIONS = sections()
each_section = pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.code)


def test_every_code_has_one_section_and_every_section_a_code() -> None:
    documented = [section.code for section in SECTIONS]
    assert sorted(documented) == sorted(CODES)


def test_sections_stand_in_the_file_of_their_area_in_order() -> None:
    for file in sorted(CATALOGUE.glob("PL-*.md")):
        codes = [section.code for section in SECTIONS if section.file == file]
        assert codes == sorted(codes)
        assert all(code.startswith(file.stem) for code in codes), file.name


def test_every_code_is_used_by_the_sources() -> None:
    table = ROOT / "src/phaseline/model/problems/codes.py"
    sources = "\n".join(path.read_text("utf-8") for path in (ROOT / "src/phaseline").rglob("*.py") if path != table)
    assert [code for code in CODES if code not in sources] == []


def test_the_sources_use_no_code_without_a_title() -> None:
    sources = "\n".join(path.read_text("utf-8") for path in (ROOT / "src/phaseline").rglob("*.py"))
    assert sorted(set(re.findall(r"PL-[A-Z]\d{3}\b", sources)) - set(CODES)) == []


@each_section
def test_section_has_the_title_of_the_table(section: Section) -> None:
    assert section.title == CODES.get(section.code)


@each_section
def test_section_has_meaning_example_and_mending(section: Section) -> None:
    parts = re.split(r"^```(?:yaml|console|toml|python)$(.*?)^```$", section.body, flags=re.MULTILINE | re.DOTALL)
    assert len(parts) >= 3, "no example in ```yaml or ```console"
    meaning, mending = parts[0].strip(), parts[-1].strip()
    assert meaning.endswith((".", ":")), "say first what is wrong"
    assert mending.startswith("**Mend:** "), "say last how to mend it"
    assert mending.endswith("."), "a whole sentence, please"
