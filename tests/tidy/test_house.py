"""What can be counted of the plan of the house (ADR 0034): each figure may only fall, and the bound falls with it."""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.tidy.trees import kept
from tests.tidy.trees import tree as parsed

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/phaseline"
NOT_OURS = ("compat/cloudify/shim", "compat/cloudify/program", "use_cases/tools/starter")
"""Code that stands in for that of others, and files that users begin with."""
MOST_IN_A_FOLDER = 20
BOUNDS: Mapping[str, int] = {
    "upward imports": 0,
    "circles at run time": 0,
    "largest circle at run time": 0,
    "lazy imports in use_cases": 11,
    "lazy imports in cli": 86,
    "public class names given twice": 0,
    "functions of use cases that the command line calls": 0,
    "modules without a test of their name": 555,
}
"""Today's figures. The plan wants 0 upward, 0 circles, at most 40 and 127 lazy imports, no name twice, 0 functions."""


class Import(NamedTuple):
    """One module imports another."""

    importer: str
    imported: str
    is_lazy: bool


@kept
def modules() -> Mapping[str, ast.Module]:
    """{dotted name below ``phaseline``: its tree}, of all modules of ours."""
    found = {}
    for file in sorted(SOURCE.rglob("*.py")):
        short = file.relative_to(SOURCE)
        if not short.as_posix().startswith(NOT_OURS):
            parts = [part for part in short.with_suffix("").parts if part != "__init__"]
            found[".".join(parts)] = parsed(file)
    return found


def nodes(tree: ast.AST, *, is_lazy: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Every import but those for type checkers, and whether it is inside a function."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, is_lazy
        inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from nodes(child, is_lazy=is_lazy or inside)


@kept
def imports() -> list[Import]:
    """All imports of ours by ours that can happen at run time."""
    found = []
    for name, tree in modules().items():
        for node, is_lazy in nodes(tree):
            for target in targets(node):
                if target and target != name:
                    found.append(Import(name, target, is_lazy))
    return found


def targets(node: ast.AST) -> Iterator[str]:
    """The modules that an import statement names."""
    if isinstance(node, ast.Import):
        names = [each.name for each in node.names]
    else:
        assert isinstance(node, ast.ImportFrom)
        names = [f"{node.module}.{each.name}" for each in node.names]
    for name in names:
        if name.startswith("phaseline."):
            short = name.removeprefix("phaseline.")
            yield short if short in modules() else short.rpartition(".")[0]


@kept
def circles() -> list[set[str]]:
    """Modules that import one another, each group once; ``records`` is one unit by plan (attributes are expressions)."""
    forth: dict[str, set[str]] = defaultdict(set)
    for each in imports():
        if each.imported and not each.importer.startswith("records."):
            forth[each.importer].add(each.imported)
    reached = {name: reachable(name, forth) for name in forth}
    groups = {
        frozenset({name} | {other for other in reached[name] if name in reached.get(other, ())}) for name in reached
    }
    return [set(each) for each in groups if len(each) > 1]


def reachable(start: str, edges: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    left = [start]
    while left:
        new = edges.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def upward_imports() -> int:
    conf = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = [each for each in conf["contracts"] if each["type"] == "layers"]
    listed = [each for contract in layers for each in contract.get("ignore_imports", ())]
    return len(set(listed) - {"phaseline -> phaseline.client.client", "phaseline -> phaseline.client.open"})


def lazy(room: str) -> int:
    return sum(each.is_lazy and each.importer.startswith(f"{room}.") for each in imports())


def twice() -> dict[str, list[str]]:
    places = defaultdict(list)
    for name, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name)
    return {name: each for name, each in places.items() if len(each) > 1}


def called_by_the_command_line() -> set[str]:
    found = set()
    for name, tree in modules().items():
        if name.startswith("cli."):
            for node, _ in nodes(tree):
                if isinstance(node, ast.ImportFrom) and str(node.module).startswith("phaseline.use_cases"):
                    found |= {f"{node.module}.{each.name}" for each in node.names if each.name.islower()}
    return found


def without_a_test() -> list[str]:
    plain = [name for name, tree in modules().items() if len(tree.body) > 1 and "." in name]
    return [name for name in plain if not file_of_test(name).exists()]


def file_of_test(name: str) -> Path:
    room, _, own = name.rpartition(".")
    return ROOT / "tests" / room.replace(".", "/") / f"test_{own}.py"


@kept
def figures() -> dict[str, int]:
    return {
        "upward imports": upward_imports(),
        "circles at run time": len(circles()),
        "largest circle at run time": max(map(len, circles()), default=0),
        "lazy imports in use_cases": lazy("use_cases"),
        "lazy imports in cli": lazy("cli"),
        "public class names given twice": len(twice()),
        "functions of use cases that the command line calls": len(called_by_the_command_line()),
        "modules without a test of their name": len(without_a_test()),
    }


@pytest.mark.parametrize("name", BOUNDS)
def test_the_house_only_becomes_tidier(name: str) -> None:
    """Equal, not at most: whoever mends something lowers the bound, so that it cannot come back."""
    assert {name: figures()[name]} == {name: BOUNDS[name]}


def test_no_folder_has_more_modules_than_one_can_look_through() -> None:
    sizes: dict[str, int] = defaultdict(int)
    for name, tree in modules().items():
        if name and not (SOURCE / name.replace(".", "/")).is_dir() and tree.body:
            sizes[name.rpartition(".")[0]] += 1
    assert {folder: size for folder, size in sizes.items() if size > MOST_IN_A_FOLDER} == {}


def folders() -> set[str]:
    """Folders of ours below ``src/phaseline``, those with data alone included."""
    found = {file.parent.relative_to(SOURCE).as_posix() for file in SOURCE.rglob("*") if file.is_file()}
    found |= {parent.as_posix() for folder in found for parent in Path(folder).parents}
    return {each for each in found if each != "." and "__pycache__" not in each and not each.startswith(NOT_OURS)}


def test_every_folder_says_what_it_is_for() -> None:
    """``docs/layout/folders.txt`` has a line for each folder, in the order of their names."""
    lines = [line.split(": ", 1) for line in (ROOT / "docs/layout/folders.txt").read_text("utf-8").splitlines()]
    assert [folder for folder, _ in lines] == sorted(folders())
    assert [folder for folder, purpose in lines if not purpose.endswith(".")] == []
