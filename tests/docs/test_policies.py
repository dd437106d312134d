"""Every policy that the documentation switches on can be switched on so, and all there are stand there."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from phaseline import LifecycleHook

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/policies.md").read_text("utf-8")
GIVEN = [
    given
    for block in re.findall(r"^```toml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    for given in tomllib.loads(block)["hooks"]["classes"]
]


def named(target: str) -> type:
    module, _, name = target.partition(":")
    found: type = getattr(import_module(module), name)
    return found


@pytest.mark.parametrize("given", GIVEN, ids=[given["name"] for given in GIVEN])
def test_a_policy_is_made_with_the_options_of_its_example(given) -> None:
    made = named(given["class"])(**given["options"])
    assert isinstance(made, LifecycleHook)
    assert isinstance(made.get_ordinal(), int)


def test_every_policy_has_its_example() -> None:
    modules = [file.stem for file in (ROOT / "src/phaseline/policies").glob("[a-z]*.py")]
    there = {
        f"{kind.__module__}:{kind.__name__}"
        for module in modules
        for kind in vars(import_module(f"phaseline.policies.{module}")).values()
        if isinstance(kind, type)
        and issubclass(kind, LifecycleHook)
        and kind.__module__.startswith("phaseline.policies")
    }
    assert there == {given["class"] for given in GIVEN}
