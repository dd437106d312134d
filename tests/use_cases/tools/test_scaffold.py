"""What ``init`` writes, and when it refuses."""

import tomllib
from pathlib import Path

import pytest

from phaseline import ProblemsError
from phaseline.use_cases.tools.scaffold import start


@pytest.mark.parametrize(
    ("folder", "module"), [("my-plugin", "my_plugin"), ("My Plugin 2", "my_plugin_2"), ("3d_", "d"), ("cloud", "cloud")]
)
def test_the_plugin_is_named_after_its_folder(tmp_path: Path, folder: str, module: str) -> None:
    made = start(str(tmp_path / folder), "plugin")
    assert f"src/{module}/__init__.py" in made.files
    project = tomllib.loads((tmp_path / folder / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["phaseline.operations"] == {module: module}
    text = "".join((tmp_path / folder / name).read_text("utf-8") for name in made.files)
    assert "MODULE" not in text
    assert "PACKAGE" not in text


def test_a_folder_that_makes_no_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError) as raised:
        start(str(tmp_path / "2026"), "plugin")
    assert raised.value.problems[0].code == "PL-C023"
    assert not (tmp_path / "2026").exists()


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    start(str(tmp_path / "hello"))
    for kind in ("blueprint", "plugin"):
        with pytest.raises(ProblemsError) as raised:
            start(str(tmp_path / "hello"), kind)
        assert raised.value.problems[0].code == "PL-C022"
