"""Every command reaches an operation of the client, or is local on purpose; none knows a use case."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import click
import pytest

from phaseline.cli.command_tree import root
from phaseline.cli.reference_docs import walk
from phaseline.client import operations
from phaseline.client.argument_checks import arguments_of
from phaseline.client.client import Client, NounOf
from phaseline.client.operations import TABLE

COMMANDS = {
    path.removeprefix("phaseline "): command
    for path, command in walk(root, "phaseline")
    if not isinstance(command, click.Group)
}
LOCAL = {
    "completion": "prints a script of the shell",
    "demo": "has a store and processes of its own",
    "docs": "shows pages of this installation",
    "version": "says which program this is",
}
"""{command: why it asks for no operation}"""
MADE = {path: command for path, command in COMMANDS.items() if "operation" in vars(command)}
"""Commands that are made from the table."""


@cache
def functions(module: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(inspect.getsource(import_module(module)))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def asked(module: str, name: str, seen: set[str]) -> Iterator[str]:
    """The operations that a function asks for, also by functions beside it."""
    code = functions(module).get(name)
    if code is None or name in seen:
        return
    seen.add(name)
    for node in ast.walk(code):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called.startswith("client."):
                yield called.removeprefix("client.")
            elif called == "ask" and isinstance(node.args[1], ast.Constant):
                yield str(node.args[1].value)
            yield from asked(module, called, seen)


def operations_of(command: click.Command) -> set[str]:
    if "operation" in vars(command):
        return {vars(command)["operation"]}
    function = inspect.unwrap(command.callback)  # type: ignore[arg-type]  # every command has one
    return set(asked(function.__module__, function.__name__, set()))


def method_of(operation: str) -> Any:
    noun, _, verb = operation.rpartition(".")
    nouns = {name: value.kind for name, value in vars(Client).items() if isinstance(value, NounOf)}
    return getattr(nouns[noun] if noun else Client, verb)


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_asks_for_operations_or_is_local_on_purpose(path: str) -> None:
    found = operations_of(COMMANDS[path])
    assert found <= {*TABLE, "deployments.inputs", "deployments.outputs", "deployments.capabilities"}
    assert bool(found) is (path not in LOCAL)


@pytest.mark.parametrize("path", MADE)
def test_a_made_command_gives_its_method_all_that_it_needs(path: str) -> None:
    """What wrappers of shared options make of words is looked at by the tests that run the commands."""
    method = method_of(vars(MADE[path])["operation"])
    needed = {
        name
        for name, each in inspect.signature(method).parameters.items()
        if each.default is each.empty and name != "self" and each.kind is not each.VAR_KEYWORD
    }
    given = {parameter.name for parameter in MADE[path].params}
    assert needed - {"workflow", "inputs"} <= given, path
    assert needed <= set(arguments_of(method))


def test_most_commands_are_made_from_the_table() -> None:
    assert len(MADE) > 90
    assert operations.TABLE.keys() >= {vars(command)["operation"] for command in MADE.values()}
