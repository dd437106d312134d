"""``phaseline.open()`` reads settings and opens nothing."""

from pathlib import Path

import pytest

import phaseline
from phaseline.client.client import Client


def test_opening_makes_no_store(tmp_path: Path) -> None:
    with phaseline.open(f"sqlite:///{tmp_path}/store.db") as lab:
        assert isinstance(lab, phaseline.Phaseline)
        assert phaseline.Phaseline is Client
    assert list(tmp_path.iterdir()) == []


def test_what_is_wrong_with_the_settings_is_raised_at_once() -> None:
    with pytest.raises(phaseline.ProblemsError):
        phaseline.open("memory:", settings={"run.threads": "none"})


def test_a_machine_is_examined_with_these_settings() -> None:
    with phaseline.open("memory:") as lab:
        assert any("memory: is in memory only" in str(check) for check in lab.doctor())
