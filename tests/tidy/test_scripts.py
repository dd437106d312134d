"""Programs that no type checker and no test reads still find what they import: benchmarks, and the comparison with the ancestor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(file for folder in ("bench", "tests/corpus") for file in (ROOT / folder).rglob("*.py"))


def missing(tree: ast.Module) -> Iterator[str]:
    """What is imported of ours, or asked of one of our modules, and is not there."""
    modules: dict[str, ModuleType] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "phaseline":
            home = import_module(str(node.module)) if find_spec(str(node.module)) else None
            for name in node.names:
                found = part(home, name.name)
                if found is None:
                    yield f"{node.module}.{name.name}"
                elif isinstance(found, ModuleType):
                    modules[name.asname or name.name] = found
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            module = modules[node.value.id]
            if part(module, node.attr) is None:
                yield f"{module.__name__}.{node.attr}"


def part(home: ModuleType | None, name: str) -> object:
    """What a module or package has under that name; None where it has nothing."""
    if home is None:
        return None
    below = f"{home.__name__}.{name}"
    is_module = hasattr(home, "__path__") and find_spec(below) is not None
    return import_module(below) if is_module else getattr(home, name, None)


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_what_a_script_takes_of_ours_is_there(file: Path) -> None:
    assert list(missing(ast.parse(file.read_text("utf-8")))) == []


@pytest.mark.parametrize(
    "text",
    [
        "from phaseline.gone import name",
        "from phaseline.model import gone",
        "from phaseline.lang.regex import gone",
        "from phaseline.use_cases.commands import install as installing\ninstalling.Order('x')",
    ],
)
def test_what_is_not_there_is_named(text: str) -> None:
    assert len(list(missing(ast.parse(text)))) == 1
