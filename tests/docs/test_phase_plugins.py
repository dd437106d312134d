"""The page about phase plugins names every attribute by which a phase says how it is called, and no other."""

import re
from pathlib import Path

from phaseline.catalog.phases.call_policy import KNOBS
from phaseline.catalog.phases.definitions import TOP
from phaseline.model.blueprint.state_paths import DEFAULT_TYPES

PAGE = (Path(__file__).resolve().parents[2] / "docs/phase-plugins.md").read_text("utf-8")
SILENT = {"Phase", "AdType", "Code"}
"""They say what a text is, not what a phase is."""


def test_the_table_of_attributes_is_that_of_the_code() -> None:
    rows = re.findall(r"^\| `Phase\.(\w+)` \| (.+) \|$", PAGE, re.MULTILINE)
    described = [row for row in rows if row[0] not in {"Dependencies", "Description"}]
    assert described == [(name, knob.kind) for name, knob in KNOBS.items()]


def test_every_attribute_that_means_something_is_on_the_page() -> None:
    assert [name for name in TOP if name not in SILENT and f"`{name}" not in PAGE] == []


def test_every_state_that_is_there_from_the_beginning_is_named() -> None:
    assert [state for state in DEFAULT_TYPES.states_of("Cloud.Node") if f"`{state}`" not in PAGE] == []
