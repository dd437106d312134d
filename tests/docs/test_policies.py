"""Every policy that the documentation switches on can be switched on so, and all there are stand there."""

import re
import tomllib
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import pytest

from phaseline import LifecycleHook
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.hook_calls import called, deployment

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


def test_the_class_of_the_page_about_writing_one_does_what_it_says() -> None:
    page = (ROOT / "docs/hook-classes.md").read_text("utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    space: dict[str, type] = {}
    exec(block, space)
    (given,) = tomllib.loads(re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[0])["hooks"]["classes"]
    hook = space["NoNight"](**given["options"])
    about = deployment(topology(blueprint(node("web"))))
    early, late = (called(hook, about, at=datetime(2026, 11, 22, hour, tzinfo=UTC)) for hour in (6, 7))
    assert (early.message, late.kind) == ("shop has to wait until 7 o'clock", "agreed")
