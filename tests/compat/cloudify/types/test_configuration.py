"""What a Component cannot be configured with: each fails with its reason, and makes nothing (bad input of chapter 1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compat.cloudify.types.estates import OUTER, Yard
from tests.compat.cloudify.types.test_component import messages, names


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    found = Yard(tmp_path)
    with found.client:
        yield found


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("blueprint_archive: inner", "blueprint_archive: ../x", "leads out of the blueprint's folder"),
        ("blueprint_archive: inner", "blueprint_archive: nowhere", "there is no 'nowhere'"),
        ("blueprint_archive: inner", "blueprint_archive: inner, main_file_name: a.yaml", "there is no blueprint 'a.yaml'"),
        ("id: db,", "id: a/b,", "PL-C021"),
        ("id: db,", f"id: {'x' * 300},", "PL-C021"),
        ("id: db,", "id: 7,", "'id' is 7, not a text"),
        ("{size: 3}", "{colour: red}", "colour"),
        ("{size: 3}", "{size: big}", "size"),
        ("inputs: {size: 3}", "labels: [a]", "'labels' is not a list of mappings"),
        ("inputs: {size: 3}", "labels: [{csys-x: y}]", "the label 'csys-x' is reserved"),
        ("deployment:", "executions_start_args: {foo: 1}\n        deployment:", "'executions_start_args' cannot have 'foo'"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_the_reason_and_makes_nothing(yard: Yard, old: str, new: str, told: str) -> None:
    failed = yard.client.executions.install(yard.app(OUTER.replace(old, new)), "app", task_retries=0)
    assert failed.status == "failed"
    assert told in messages(failed)
    assert [name for name in names(yard) if name != "app"] in ([], ["db"])
    if "executions_start_args" not in new:
        assert names(yard) == ["app"]
    assert yard.calls() == []
