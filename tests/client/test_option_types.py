"""The types of shared options: joined from parts, and loaded only where arguments of programs are checked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest

from phaseline.client import option_types

NOUNS = ("blueprints", "breakpoints", "deployments", "executions", "instances", "plans", "resources", "snapshots")


def _names(kind: type) -> set[str]:
    annotations: Mapping[str, object] = kind.__annotations__
    return {*annotations}


@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        (option_types.ExecutionOptionsDict, (option_types.RunOptionsDict, option_types.FollowOptionsDict)),
        (option_types.UpdateAndRunOptionsDict, (option_types.UpdateOptionsDict, option_types.RunOptionsDict)),
        (option_types.UpdateExecutionOptionsDict, (option_types.UpdateOptionsDict, option_types.ExecutionOptionsDict)),
    ],
)
def test_a_joined_type_has_the_options_of_its_parts_and_all_may_be_left_out(
    whole: type, parts: tuple[type, ...]
) -> None:
    assert _names(whole) == set().union(*map(_names, parts))
    assert vars(whole)["__required_keys__"] == frozenset()


def test_nouns_load_no_types() -> None:
    program = f"import sys\nfor noun in {NOUNS}: __import__(f'phaseline.client.{{noun}}')\nprint('phaseline.client.option_types' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
