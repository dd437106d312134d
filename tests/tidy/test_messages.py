"""Messages and mends of problems are written as HOUSE §6 says."""

from __future__ import annotations

import ast

import pytest
from tests.tidy import messages


def test_messages_and_mends_begin_in_lower_case_and_end_without_a_full_stop() -> None:
    assert [f"{one.file}:{one.line}: {one.field} {one.fault}" for one in messages.faults()] == []


@pytest.mark.parametrize(
    ("begins", "ends", "is_right"),
    [
        ("correct the id", "list", True),
        ("Correct the id", "list", False),
        ("correct the id", "see the list.", False),
        ("PL-C011 is", "it", True),
        ("YAML is not", "it", True),
        ("Cloudify takes", "it", True),
        ("Phase.Timeout has", "it", True),
        ("Phase.", "it", True),
        ("Enable. See", "it", False),
        ("I", "", False),
        ("", "", True),
        ("'Shop' is", "...", True),
    ],
)
def test_how_a_text_is_judged(begins: str, ends: str, *, is_right: bool) -> None:
    assert (messages.Text("a.py", 1, "mend", begins, ends).fault == "") is is_right


def test_texts_are_found_in_variables_and_functions() -> None:
    source = """
def way(x):
    if x:
        return "One"
    return f"Two {x}"

def f(x):
    mend = "Three" if x else "Four"
    raise problem_error("PL-C001", "Five", mend)

def g(x):
    raise problem_error("PL-C002", message=f"Six {x}", mend=way(x))
"""
    tree = ast.parse(source)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    found = {
        messages.ends_of(text)[0].strip()
        for function in functions.values()
        for _, value in messages.arguments(function)
        for text in messages.strings(value, function, functions, depth=2)
    }
    assert found == {"One", "Two", "Three", "Four", "Five", "Six"}
