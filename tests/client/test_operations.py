"""The table of operations is whole: every row can be called, every method is a row, and both speak of the same arguments and answer."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from phaseline.client import operations, option_types
from phaseline.client.client import Client, NounOf
from phaseline.client.operations import TABLE, ClientOperation

HERE = Path(operations.__file__).parent
NAMED = {name: value for name, value in vars(operations).items() if isinstance(value, ClientOperation)}
CONSTANTS = {value.name: name for name, value in NAMED.items()}
GIVEN_BY_THE_CLIENT = {"needed": 1, "made": 1, "listed": 1, "none": 0, "examined": 2}
"""{what an operation needs of the store: how many arguments the client itself gives first}"""
NO_OPERATION = {
    "close": "lets go of the client itself",
    "request_id": "a frame around operations, not one itself",
    "deployments.inputs": "a part of deployments.show",
    "deployments.outputs": "a part of deployments.compute",
    "deployments.capabilities": "a part of deployments.compute",
}
"""{method: why it asks for no operation of its own}"""
OF_THE_FOLLOWER = {"watcher", "detach"}
"""Arguments that the client keeps for following what a command has submitted."""
SUBMITTED = re.compile(r"(?:.* \| SubmissionFor|Submissions|RunSubmission)\[(.*)\]")
"""What a target returns that submits something; the client answers with the part in brackets."""
ANSWERED_BY = {"StoreChecked": "CheckedStore"}
"""{name in the table: what it is called at its target}"""


def target_of(op: ClientOperation[Any]) -> Any:
    module, _, name = op.target.partition(":")
    return getattr(import_module(module), name)


@cache
def calls() -> Mapping[str, tuple[ast.FunctionDef, list[ast.Call]]]:
    """{method, as ``noun.name``: its code and the operations that it asks for}."""
    nouns = {value.kind.__name__: name for name, value in vars(Client).items() if isinstance(value, NounOf)}
    found = {}
    for file in HERE.rglob("*.py"):
        for kind in ast.parse(file.read_text("utf-8")).body:
            if isinstance(kind, ast.ClassDef) and (kind.name in nouns or kind.name == "Client"):
                for method in kind.body:
                    if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                        noun = f"{nouns[kind.name]}." if kind.name in nouns else ""
                        found[noun + method.name] = (method, list(asked(method)))
    return found


def asked(method: ast.FunctionDef) -> Iterator[ast.Call]:
    for node in ast.walk(method):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "self._call":
            yield node


def operation_of(call: ast.Call) -> ClientOperation[Any]:
    return NAMED[ast.unparse(call.args[0]).removeprefix("ops.")]


METHODS = calls()


def test_every_operation_has_a_name_of_its_own() -> None:
    assert len(NAMED) == len(TABLE)
    assert list(TABLE) == [value.name for value in NAMED.values()]
    assert "retry" in repr(operations.RETRY)


@pytest.mark.parametrize("name", TABLE)
def test_an_operation_can_be_called_and_says_why_it_is_local(name: str) -> None:
    op = TABLE[name]
    assert callable(target_of(op))
    assert op.kind in {"query", "command", "local"}
    assert bool(op.reason) is (op.kind == "local")
    if op.kind == "query":
        assert op.store != "made"


@pytest.mark.parametrize("method", METHODS)
def test_a_method_asks_for_one_operation(method: str) -> None:
    _, made = METHODS[method]
    assert len(made) == (0 if method in NO_OPERATION else 1)


def test_every_operation_is_asked_for_by_the_method_of_its_name() -> None:
    assert {operation_of(made[0]).name: method for method, (_, made) in METHODS.items() if made} == {
        name: name for name in TABLE
    }


@pytest.mark.parametrize("method", sorted(METHODS.keys() - NO_OPERATION.keys()))
def test_a_method_passes_what_its_target_takes(method: str) -> None:
    code, (call,) = METHODS[method]
    op = operation_of(call)
    signature = inspect.signature(target_of(op))
    taken = list(signature.parameters.values())[GIVEN_BY_THE_CLIENT[op.store] :]
    passed = {name for keyword in call.keywords for name in names_of(keyword, code)} - OF_THE_FOLLOWER
    assert passed <= {each.name for each in taken}
    needed = {each.name for each in taken if each.default is each.empty and each.kind is not each.VAR_KEYWORD}
    assert needed <= passed


def names_of(keyword: ast.keyword, code: ast.FunctionDef) -> set[str]:
    """What one keyword of a call passes; of a shared list of options all of them."""
    if keyword.arg is not None:
        return {keyword.arg}
    if ast.unparse(keyword.value) == "following(options)":
        return set(option_types.FollowOptionsDict.__annotations__)
    assert code.args.kwarg is not None
    shared = ast.unparse(code.args.kwarg.annotation).removeprefix("Unpack[").removesuffix("]")  # type: ignore[arg-type]  # it has one
    return set(getattr(option_types, shared).__annotations__)


@pytest.mark.parametrize("name", TABLE)
def test_an_operation_is_typed_by_the_answer_of_its_target(name: str) -> None:
    target = target_of(TABLE[name])
    told = operations.__annotations__[CONSTANTS[name]].removeprefix("ClientOperation[").removesuffix("]")
    answer = target.__name__ if inspect.isclass(target) else target.__annotations__["return"]
    answer = "ExecutionView" if answer == "Submission" else SUBMITTED.sub(r"\1", answer)
    for ours, theirs in ANSWERED_BY.items():
        told = told.replace(ours, theirs)
    assert told.replace("Sequence[", "list[") == answer.replace("Sequence[", "list[")
