"""How far the context of a request travels: the modules to which an install hands it, and whether it climbs (HOUSE §9).

A function hands its context on where it calls another function of ours with ``ctx``, ``self._ctx`` or ``ctx.app`` as a
whole argument. Callees are found through the imports of the module. Values that were taken from the context are not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.tidy.trees import kept
from tests.tidy.trees import tree as parsed

ROOT = Path(__file__).resolve().parents[2] / "src/phaseline"
NOT_OURS = ("compat/cloudify/shim", "compat/cloudify/program", "use_cases/tools/starter")
MOST_MODULES = 60
"""The bound of the plan; a walk through the old ``Workplace`` entered 122."""
FLOORS = ["app", "views", "lookup", "loading", "queries", "prepare", "commands", "embedded", "tools", "client", "cli"]
"""The rooms that know a context, and the folders of use cases, the lowest first."""
STARTS = (("phaseline.use_cases.commands.install", "install"), ("phaseline.embedded.follow", "follow"))
Function = tuple[str, str]
"""(module, name); a method as ``Class.name``."""


@kept
def modules() -> dict[str, ast.Module]:
    found = {}
    for file in ROOT.rglob("*.py"):
        if not file.relative_to(ROOT).as_posix().startswith(NOT_OURS):
            found[".".join(file.relative_to(ROOT.parent).with_suffix("").parts)] = parsed(file)
    return found


@kept
def functions() -> dict[Function, ast.FunctionDef]:
    found = {}
    for module, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                found[module, node.name] = node
            for own in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(own, ast.FunctionDef):
                    found[module, f"{node.name}.{own.name}"] = own
    return found


@kept
def imported(module: str) -> dict[str, tuple[str, str]]:
    """{name in the module: (module, name) of what it was imported from}."""
    found = {}
    for node in ast.walk(modules()[module]):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.update({alias.asname or alias.name: (node.module, alias.name) for alias in node.names})
    return found


def callees(module: str, call: ast.Call) -> Iterator[Function]:
    """The functions that a call may enter; of a class all its methods, for the object keeps what it was given."""
    names: list[Function] = []
    if isinstance(call.func, ast.Name):
        names = [(module, call.func.id), imported(module).get(call.func.id, ("", ""))]
    elif isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        origin, name = imported(module).get(call.func.value.id, ("", ""))
        names = [(f"{origin}.{name}", call.func.attr), (origin, f"{name}.{call.func.attr}")]
        if call.func.value.id == "self":
            names += [known for known in functions() if known[0] == module and known[1].endswith(f".{call.func.attr}")]
    for name in names:
        yield from (
            known
            for known in functions()
            if known == name or (known[0] == name[0] and known[1].startswith(f"{name[1]}."))
        )


def is_context(argument: ast.expr) -> bool:
    if isinstance(argument, ast.Name):
        return argument.id in {"ctx", "app"}
    return isinstance(argument, ast.Attribute) and argument.attr in {"_ctx", "app"}


def walk() -> tuple[set[str], set[tuple[str, str]]]:
    """(modules that are handed the context, pairs of modules of which the first hands it to the second)."""
    seen: set[Function] = set(STARTS)
    moves: set[tuple[str, str]] = set()
    open_ones = list(STARTS)
    while open_ones:
        module, name = open_ones.pop()
        for node in ast.walk(functions()[module, name]):
            if isinstance(node, ast.Call) and any(map(is_context, [*node.args, *(one.value for one in node.keywords)])):
                for callee in callees(module, node):
                    moves.add((module, callee[0]))
                    if callee not in seen:
                        seen.add(callee)
                        open_ones.append(callee)
    return {module for module, _ in seen}, moves


def floor(module: str) -> int:
    """The height of a module's room; of rooms that know no context 0."""
    parts = module.split(".")
    room = parts[2] if parts[1] == "use_cases" and len(parts) > 2 else parts[1]
    return FLOORS.index(room) if room in FLOORS else 0


def test_an_install_hands_its_context_to_few_modules() -> None:
    entered, _ = walk()
    assert {module for module, _ in STARTS} < entered
    assert len(entered) <= MOST_MODULES


def test_a_context_is_handed_downwards_only() -> None:
    _, moves = walk()
    assert [(first, second) for first, second in sorted(moves) if floor(second) > floor(first)] == []
