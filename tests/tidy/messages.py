"""Messages and mends of problems that are not written as HOUSE §6 says: lower case, and no full stop at the end.

``python -m tests.tidy.messages`` prints the figures by room, ``python -m tests.tidy.messages ROOM`` (or a folder or file
of it) each text with its place. Read are the texts in calls that name a code (``problem_error("PL-C011", message, mend)``),
in the function's variables that such a call takes, and in functions whose results such a call takes in the same module.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.tidy.trees import tree as parsed

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/phaseline"
NOT_OURS = ("compat/cloudify/shim", "compat/cloudify/program", "use_cases/tools/starter")
CODE = re.compile(r"PL-[A-Z]\d{3}$")
FIELDS = ("message", "mend")
NAMES = frozenset(
    [
        "Cloudify",
        "CycleCloud",
        "Fuel",
        "Heat",
        "Python",
        "Linux",
        "Phaseline",
        "Debian",
        "Ubuntu",
        "Jinja",
        "Windows",
        "Kubernetes",
        "Terraform",
        "Ansible",
        "Git",
    ]
)
"""Words that keep their capital letter."""


class Text(NamedTuple):
    """A text of a problem: where it is written, which field it is, and how it begins and ends."""

    file: str
    line: int
    field: str
    begins: str
    ends: str

    @property
    def fault(self) -> str:
        """What is wrong with it; empty if nothing is."""
        word = re.match(r"[\w-]*(?!\w*\.(?:\w|$))", self.begins)  # a name with dots keeps its letters
        first = word.group() if word else ""
        if first[:1].isupper() and first not in NAMES and first[1:].islower() | (len(first) == 1):
            return f"begins with {first!r}"
        if self.ends.endswith(".") and not self.ends.endswith("..."):
            return f"ends with {self.ends[-20:]!r}"
        return ""


def texts(file: Path) -> Iterator[Text]:
    """The texts of problems in a file."""
    name = file.relative_to(ROOT).as_posix()
    tree = parsed(file)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    seen: set[int] = set()
    for scope in [tree, *functions.values()]:
        for field, value in arguments(scope):
            for found in strings(value, scope, functions, depth=2):
                if id(found) not in seen:
                    seen.add(id(found))
                    yield Text(name, found.lineno, field, *ends_of(found))


def arguments(scope: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """(field, expression) of the calls in a scope that name a code."""
    for node in ast.walk(scope):
        if not isinstance(node, ast.Call):
            continue
        place = next((place for place, one in enumerate(node.args) if is_code(one)), None)
        if place is not None:
            yield from zip(FIELDS, node.args[place + 1 : place + 3], strict=False)
            yield from ((one.arg, one.value) for one in node.keywords if one.arg in FIELDS)


def is_code(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(CODE.match(node.value))


def strings(
    value: ast.expr, scope: ast.AST, functions: dict[str, ast.FunctionDef], depth: int
) -> Iterator[ast.Constant | ast.JoinedStr]:
    """The texts that an expression may be, through variables of the scope and functions of the module."""
    if isinstance(value, ast.Constant | ast.JoinedStr):
        if isinstance(value, ast.JoinedStr) or isinstance(value.value, str):
            yield value
    elif isinstance(value, ast.IfExp):
        yield from strings(value.body, scope, functions, depth)
        yield from strings(value.orelse, scope, functions, depth)
    elif isinstance(value, ast.BoolOp):
        for one in value.values:
            yield from strings(one, scope, functions, depth)
    elif isinstance(value, ast.Name) and depth:
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and any(
                isinstance(to, ast.Name) and to.id == value.id for to in node.targets
            ):
                yield from strings(node.value, scope, functions, depth - 1)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in functions and depth:
        callee = functions[value.func.id]
        for node in ast.walk(callee):
            if isinstance(node, ast.Return) and node.value is not None:
                yield from strings(node.value, callee, functions, depth - 1)


def ends_of(text: ast.Constant | ast.JoinedStr) -> tuple[str, str]:
    """How a text begins and ends, as far as it is known before the program runs."""
    parts: Sequence[ast.expr] = text.values if isinstance(text, ast.JoinedStr) else [text]
    known = [part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "" for part in parts]
    return (known[0], known[-1]) if known else ("", "")


def faults(below: str = "") -> list[Text]:
    """The texts below a folder that are not written as the rules say."""
    files = [file for file in sorted(SOURCE.rglob("*.py")) if file.relative_to(SOURCE).as_posix().startswith(below)]
    ours = [file for file in files if not file.relative_to(SOURCE).as_posix().startswith(NOT_OURS)]
    return [text for file in ours for text in texts(file) if text.fault]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for one in faults(sys.argv[1].removeprefix("src/phaseline/").rstrip("/")):
            print(f"{one.file}:{one.line}: {one.field} {one.fault}: {one.begins[:50]!r}")
    else:
        rooms = Counter(one.file.split("/")[2] for one in faults())
        print(*(f"{room}: {count}" for room, count in rooms.most_common()), f"all: {sum(rooms.values())}", sep="\n")
