"""The exit code of a plan."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from phaseline.cli.commands.plans.answers import SOMETHING, answer_plan
from phaseline.cli.shell.cli_context import CliContext


def plan(**more: Any) -> Any:
    return SimpleNamespace(**{"value": {}, "text": "a plan", "id": "", "around": None, "is_empty": False, **more})


def test_a_plan_that_would_do_something_says_so_only_if_it_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    answer_plan(CliContext(), plan())
    answer_plan(CliContext(), plan(is_empty=True), tells=True)
    with pytest.raises(SystemExit) as left:
        answer_plan(CliContext(), plan(), tells=True)
    assert left.value.code == SOMETHING
    assert capsys.readouterr().out == "a plan\n" * 3


def test_a_plan_that_a_hook_refuses_has_failed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        answer_plan(CliContext(), plan(id="plan-7", around=SimpleNamespace(refusals=["no"])), tells=True)
    assert left.value.code == 1
    assert "Kept as plan-7" in capsys.readouterr().err
