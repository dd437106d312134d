"""The page about packages has the tables that hold."""

from pathlib import Path

import pytest

from phaseline.packages.format.format_versions import FILES, FORMATS
from phaseline.packages.format.metadata import format_of
from phaseline.packages.format.native_metadata import NATIVE_KEYS
from phaseline.packages.format.task_types import parameters_of

PAGE = (Path(__file__).resolve().parents[2] / "docs/packages.md").read_text("utf-8")


@pytest.mark.parametrize("name", FILES)
def test_the_page_says_which_formats_have_a_file(name: str) -> None:
    row = " | ".join(each.files.get(name, "-") for each in FORMATS.values())
    assert f"| `{name}` | {row} |" in PAGE


def test_the_page_names_all_formats_and_their_types_of_tasks() -> None:
    assert "| file | " + " | ".join(FORMATS) + " |" in PAGE
    native = format_of({"package_version": "10.0.0"})
    assert native is not None
    for name in native.stage_types:
        since = next(version for version, each in FORMATS.items() if name in each.stage_types)
        needed, others = parameters_of(name)
        row = next(
            line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |") and line.endswith(f"| {since} |")
        )
        assert all(f"`{word}`" in row for word in (*needed, *others)), name


def test_the_page_names_what_only_our_own_packages_have() -> None:
    assert all(f"| `{key}` |" in PAGE for key in NATIVE_KEYS)
