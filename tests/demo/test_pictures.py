"""The pictures of the documentation are those that ``make pictures`` makes of the recording and the blueprints.

Whether the recording is what the program says today is tested where the demonstration is played, in ``test_demo.py``.
"""

import doctest
import re
import xml.etree.ElementTree as ET
from types import ModuleType

import pytest

from tools.pictures import __main__ as pictures
from tools.pictures import cast, terminal


def test_every_picture_is_the_one_that_the_build_makes() -> None:
    recorded = pictures.CAST.read_text("utf-8")
    made = pictures.pictures(recorded)
    assert {file.name: file.read_text("utf-8") for file in pictures.DEMO.glob("*.svg")} == made
    assert pictures.pictures(recorded) == made


def test_the_front_page_begins_with_the_program_at_work() -> None:
    text = (pictures.ROOT / "README.md").read_text("utf-8")
    beginning = text.partition("\n## ")[0]
    ((words, target),) = re.findall(r"!\[([^]]+)\]\(([^)]+)\)", beginning)
    assert words == pictures.ACTS["act-2"]
    assert target == "docs/demo/act-2.svg"


def test_recordings_with_other_figures_have_the_same_words() -> None:
    kept = cast.as_cast("demo", {"act": "$ install\n  install-1 runs\n    create: 1 of 1 done\n  completed in 1.0 s\n"})
    slower = cast.as_cast("demo", {"act": "$ install\n  install-1 runs\n  completed in 2 min 3 s\n"})
    other = cast.as_cast("demo", {"act": "$ install\n  install-1 runs\n  failed in 2 min 3 s\n"})
    assert pictures.said(kept) == pictures.said(slower) != pictures.said(other)


def test_a_picture_is_whole_and_asks_nothing_of_others() -> None:
    picture = terminal.as_svg("a < b", ["", "\x1b[1;31m<b>&\x1b[0m " + "x" * 200, "", "end"])
    root = ET.fromstring(picture)
    texts = ["".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["<b>& " + "x" * 99, "x" * 101, "end"]
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("module", [cast, terminal], ids=lambda module: module.__name__)
def test_examples_in_docstrings_run(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
