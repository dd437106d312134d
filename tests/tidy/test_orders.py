"""No use case gives an order past ``once``: what it stores is one with the order that it is (ADR 0032)."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.tidy.trees import tree

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/phaseline"
ROOMS = [SOURCE / "use_cases", SOURCE / "embedded"]
"""Where orders are given."""
GIVING = {"ask", "create_execution", "create_deployment", "delete_deployment", "grow"}
"""Methods of a store that begin something."""
NO_ORDERS = {
    "embedded/engine_commands.py:stop_engine": "an engine that has stopped is asked in vain, and says so",
    "embedded/reload_plugins.py:reload_plugins": "plugins are read anew as often as it is said",
    "embedded/reload_plugins.py:reload_hooks": "hook classes are read again each time that it is requested",
    "use_cases/lookup/known_phases.py:forget_phase": "a phase that is forgotten already is forgotten",
    "use_cases/lookup/running_engine.py:request_reload": "plugins are read anew, after a package was installed",
    "use_cases/commands/adopt.py:_cancel_all": "what is canceled already is not asked again, and the abandonment waits for it",
    "use_cases/commands/resources/apply.py:_make": "a cluster without resources, which who asks again finds",
}
"""{file:function that asks on its own: why it may}."""
PARTS = {
    "use_cases/commands/resources/set_target.py:_stored", "use_cases/commands/resources/apply.py:_stored", "use_cases/commands/resources/pause_phase.py:_asked", "use_cases/commands/estate/group_runs.py:_ask",
}  # fmt: skip
"""Functions that are called where everything is written as one."""
HANDED_ON = {
    "use_cases/commands/orders/given_orders.py:next_once",
    "use_cases/commands/submission.py:ask",
    "use_cases/commands/resources/requests.py:ask_for",
    "use_cases/commands/update.py:submit_update",
    "use_cases/commands/install.py:submit_install",
    "use_cases/commands/install.py:submit_uninstall",
}
"""Functions that take the order of who calls them."""

Function = ast.FunctionDef


def modules() -> list[Path]:
    return sorted(path for room in ROOMS for path in room.rglob("*.py"))


def functions(module: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(module) if isinstance(node, ast.FunctionDef))


def opens(node: ast.AST) -> ast.Call | None:
    """The call of ``as_one`` with which a block begins."""
    for item in node.items if isinstance(node, ast.With) else ():
        call = item.context_expr
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "as_one":
            return call
    return None


def gives(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GIVING):
        return False
    owner = node.func.value
    return (isinstance(owner, ast.Attribute) and owner.attr == "store") or (
        isinstance(owner, ast.Name) and owner.id == "store"
    )


def lonely(node: ast.AST) -> Iterator[ast.AST]:
    """What gives something outside of a block that writes as one."""
    for child in ast.iter_child_nodes(node):
        if opens(child) is None:
            if gives(child):
                yield child
            yield from lonely(child)


def is_decorated(function: Function) -> bool:
    return any(isinstance(one, ast.Call) and ast.unparse(one.func) == "once" for one in function.decorator_list)


def takes_order(function: Function) -> bool:
    every = (*function.args.args, *function.args.kwonlyargs)
    return any(one.annotation is not None and "NewOrder" in ast.unparse(one.annotation) for one in every)


def must_be_decorated(function: Function) -> bool:
    """Whether others may call it with no order; what is private hands on what it gets."""
    return takes_order(function) and not function.name.startswith("_") and not is_decorated(function)


def findings(path: str, module: ast.Module) -> Iterator[str]:
    """What a module does past ``once``."""
    for function in functions(module):
        place = f"{path}:{function.name}"
        if next(lonely(function), None) is not None and place not in {*NO_ORDERS, *PARTS}:
            yield f"{place} writes outside of as_one(given)"
        blocks = [call for node in ast.walk(function) if (call := opens(node)) is not None]
        if any([ast.unparse(one) for one in call.args] != ["given"] for call in blocks):
            yield f"{place} writes as one without the order that it was given"
        if blocks and not takes_order(function):
            yield f"{place} writes as one, and takes no order"
        if must_be_decorated(function) and place not in HANDED_ON:
            yield f"{place} takes an order and is not decorated with once"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(place):\n    place.store.ask(1)\n", 1),
        ("def f(place):\n    store.create_execution(1)\n", 1),
        (
            "@once('f')\ndef f(place, given: NewOrder):\n    with place.store.as_one(given):\n        place.store.ask(1)\n",
            0,
        ),
        ("@once('f')\ndef f(place, given: NewOrder):\n    with place.store.as_one():\n        place.store.ask(1)\n", 1),
        (
            "@once('f')\ndef f(place, given: NewOrder):\n    with place.store.as_one(given):\n        pass\n    place.store.grow(1)\n",
            1,
        ),
        ("def f(place, given: NewOrder):\n    with place.store.as_one(given):\n        place.store.ask(1)\n", 1),
        ("def f(place):\n    with place.store.as_one(given):\n        place.store.ask(1)\n", 1),
        ("def f(place):\n    place.ask(1)\n", 0),
    ],
)
def test_what_gives_an_order_past_once_is_found(text: str, found: int) -> None:
    assert len(list(findings("a.py", ast.parse(text)))) == found


def test_no_use_case_gives_an_order_past_once() -> None:
    found = []
    for path in modules():
        found += findings(path.relative_to(SOURCE).as_posix(), tree(path))
    assert not found, "\n".join(found)


def test_every_exemption_is_still_needed() -> None:
    needed = set()
    for path in modules():
        for function in functions(tree(path)):
            place = f"{path.relative_to(SOURCE).as_posix()}:{function.name}"
            if next(lonely(function), None) is not None or must_be_decorated(function):
                needed.add(place)
    assert needed == {*NO_ORDERS, *PARTS, *HANDED_ON}
