"""What has started an execution is told, and executions are found by it (BB2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compat.cloudify.types.estates import INNER, Yard

from phaseline.cli.render.executions import execution_text
from phaseline.model.problems.problem import ProblemsError


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    found = Yard(tmp_path)
    with found.client:
        found.client.executions.install(found.three_levels(INNER), "app")
        yield found


def test_bb2_show_names_the_cause(yard: Yard) -> None:
    shown = yard.client.executions.show("install-2")
    assert "started by component db_" in execution_text(shown)
    assert yard.client.executions.show("install-1").caused_by == ""


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("component", ["install-3", "install-2"]),
        ("component:install-1", ["install-2"]),
        ("component:db", ["install-3"]),
        ("relationship", []),
    ],
)
def test_bb2_executions_are_listed_by_cause(yard: Yard, wanted: str, found: list[str]) -> None:
    assert [one.id for one in yard.client.executions.list(caused_by=wanted).items] == found


@pytest.mark.parametrize("wanted", ["moon", "component:nowhere"])
def test_bb2_an_unknown_cause_is_refused(yard: Yard, wanted: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        yard.client.executions.list(caused_by=wanted)
    assert caught.value.problems[0].code == "PL-C116"
