"""The renaming of symbols: what is renamed, what stays, and what stands in the way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools/rename_symbols.py"
HOME = "src/phaseline/room/home.py"
DEFINED = '''
class Spot:
    """A ``Spot``.

    >>> told(Spot()), "told"
    """


def told(spot: Spot) -> str:
    return str(spot)
'''
TABLE = "phaseline.room.home:Spot -> ElementPath\nphaseline.room.home:told -> as_text\n"
USED = '''
from typing import TYPE_CHECKING, cast

from phaseline.room import home
from phaseline.room.home import told

if TYPE_CHECKING:
    from phaseline.room.home import Spot

HOMES = {"Spot": "room.home:Spot", "told": "phaseline.room.home.told"}
PROGRAM = """
from phaseline.room import home
print(f"{type(home.Spot())}\\\\n")
"""


def lazily(one: "Spot | None", told: bool) -> "list[Spot]":
    """What ``Spot`` means is known here; ``told`` is an argument."""
    from phaseline.room.home import Spot as Place

    return [cast("Spot", one) if told else Place()]


def others(row: dict[str, str]) -> str:
    Spot = row["Spot"]
    names = [told for told in row]
    return Spot + row["told"] + told(home.Spot()) + str(names)
'''
RENAMED = '''
from typing import TYPE_CHECKING, cast

from phaseline.room import home
from phaseline.room.home import as_text

if TYPE_CHECKING:
    from phaseline.room.home import ElementPath

HOMES = {"Spot": "room.home:ElementPath", "told": "phaseline.room.home.as_text"}
PROGRAM = """
from phaseline.room import home
print(f"{type(home.ElementPath())}\\\\n")
"""


def lazily(one: "ElementPath | None", told: bool) -> "list[ElementPath]":
    """What ``ElementPath`` means is known here; ``told`` is an argument."""
    from phaseline.room.home import ElementPath as Place

    return [cast("ElementPath", one) if told else Place()]


def others(row: dict[str, str]) -> str:
    Spot = row["Spot"]
    names = [told for told in row]
    return Spot + row["told"] + as_text(home.ElementPath()) + str(names)
'''


def run(folder: Path, used: str, *words: str) -> subprocess.CompletedProcess[str]:
    for name, text in {HOME: DEFINED, "src/phaseline/user.py": used, "docs/layout/renames.txt": TABLE}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if not (folder / name).exists():
            (folder / name).write_text(dedent(text).lstrip("\n"))
    return subprocess.run([sys.executable, TOOL, *words], cwd=folder, capture_output=True, text=True, check=False)


def test_uses_are_renamed_and_what_only_has_the_same_name_stays(tmp_path: Path) -> None:
    assert "src/phaseline/user.py" in run(tmp_path, USED, "--check").stdout
    done = run(tmp_path, USED)
    assert (done.returncode, done.stdout) == (0, "2 files rewritten\n"), done.stderr
    assert (tmp_path / "src/phaseline/user.py").read_text() == RENAMED.lstrip("\n")
    new = DEFINED.replace("Spot", "ElementPath").replace("told", "as_text").replace('"as_text"', '"told"')
    assert (tmp_path / HOME).read_text() == new.lstrip()
    again = run(tmp_path, USED, "--check")
    assert (again.returncode, again.stdout) == (0, "\n")


@pytest.mark.parametrize(
    ("used", "fault"),
    [
        ("from phaseline.room.home import Spot\nElementPath = Spot()\n", "'ElementPath' (for 'Spot') is there already"),
        ("from phaseline.room.home import told\ndef f(as_text):\n    return told(as_text)\n", "'as_text' (for 'told')"),
        (
            "def f():\n    from phaseline.room.home import told\n    told = 1\n",
            "'told' has several meanings in one scope",
        ),
        ("ElementPath = 1\nfrom phaseline.room.home import Spot\n", "is there already"),
    ],
)
def test_nothing_is_written_where_a_new_name_means_something_else(tmp_path: Path, used: str, fault: str) -> None:
    done = run(tmp_path, used)
    assert fault in done.stdout
    assert done.returncode == 1
    assert (tmp_path / "src/phaseline/user.py").read_text() == used
    assert (tmp_path / HOME).read_text() == DEFINED.lstrip("\n")
