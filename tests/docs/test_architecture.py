"""The walk along one request names only what is there."""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "architecture.md").read_text("utf-8")
ROOMS = (
    "cli|client|embedded|use_cases|app|views|run|tasks|compat|hooks|catalog|calls|store|vault|ports|planning|"
    "engine|plan|packages|dsl|records|model|lang"
)
NAMES = sorted(set(re.findall(rf"`(?:phaseline\.)?((?:{ROOMS})(?:\.\w+)*)(?:\(\w.*?\))?`", TEXT)))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_the_walk_exists(name: str) -> None:
    words = ["phaseline", *name.split(".")]
    depth = next(depth for depth in range(len(words), 0, -1) if is_module(".".join(words[:depth])))
    found: object = import_module(".".join(words[:depth]))
    for word in words[depth:]:
        found = getattr(found, word)


def is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def test_the_walk_visits_every_room() -> None:
    assert {name.split(".")[0] for name in NAMES} == set(ROOMS.split("|"))
