"""No use case reaches the rows of another tenant: it has the store of its tenant, and nothing else (rules RF4, K2)."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.tidy.trees import tree

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/phaseline"
ROOMS = [SOURCE / name for name in ("use_cases", "client", "cli", "views", "calls", "hooks", "catalog", "tasks")]
UPKEEP = {
    "use_cases/commands/maintenance.py": "an operator of the store checks it, backs it up, compacts and releases it",
    "use_cases/commands/secrets.py": "the master key encrypts the secrets of all tenants",
    "use_cases/lookup/known_phases.py": "the phases that an engine knows are those of the whole process",
    "use_cases/queries/status.py": "the sizes of the store's file",
    "use_cases/tools/doctor.py": "an operator of the store examines it and its server",
}
"""{file that maintains the whole store: what for}."""


def accesses(module: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, what it reaches) of each access to the whole store, ``app.store``, or to its maintenance, ``app.upkeep``."""
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and node.attr in {"store", "upkeep"}:
            of = node.value
            name = of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""
            if name in {"app", "_app"}:
                yield node.lineno, node.attr


def found() -> Iterator[tuple[str, int, str]]:
    for room in ROOMS:
        for path in sorted(room.rglob("*.py")):
            for line, what in accesses(tree(path)):
                yield path.relative_to(SOURCE).as_posix(), line, what


def test_rf4_no_use_case_reaches_the_whole_store() -> None:
    assert [(name, line) for name, line, what in found() if what == "store"] == []


def test_rf4_only_operators_of_the_store_maintain_it() -> None:
    assert {name for name, _, what in found() if what == "upkeep"} == UPKEEP.keys()


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("ctx.app.store.deployments()", [(1, "store")]),
        ("self._ctx.app.store", [(1, "store")]),
        ("rows = app.upkeep.check()", [(1, "upkeep")]),
        ("ctx.store.deployments()", []),
        ("app.store_location", []),
    ],
)
def test_an_access_is_seen(text: str, seen: list[tuple[int, str]]) -> None:
    assert list(accesses(ast.parse(text))) == seen
