"""The nodes of an expression's tree. Operators of equal precedence form one flat chain, so a long chain is not deep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from phaseline.records.values import Value


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, string, ``true``, ``undefined`` or ``error``."""

    value: Value
    depth: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """An attribute by its name. If ``is_own`` (written ``my.`` or ``self.``), enclosing records are not searched."""

    name: str
    is_own: bool = False
    depth: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Select:
    """``of.name``: the attribute ``name`` of the value of ``of``."""

    of: Node
    name: str
    depth: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Index:
    """``of[at]``: the member at the index ``at`` of the value of ``of``."""

    of: Node
    at: Node
    depth: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call ``name(arguments)``; ``offset`` is where the name begins."""

    name: str
    arguments: tuple[Node, ...]
    offset: int = field(default=0, compare=False)
    depth: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list written as ``{a, b}``."""

    items: tuple[Node, ...]
    depth: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class RecordOf:
    """A record written as ``[a = 1; b = 2]``."""

    entries: tuple[tuple[str, Node], ...]
    depth: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """An operator with one operand: ``-x``, ``+x``, ``!x`` or ``~x``."""

    sign: str
    of: Node
    depth: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators of equal precedence: ``first`` and the operands after it, from left to right, such as ``a + b - c``."""

    first: Node
    rest: tuple[tuple[str, Node], ...]
    depth: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Logic:
    """Operands joined by one logical operator: ``a && b && c`` or ``a || b || c``."""

    sign: str
    items: tuple[Node, ...]
    depth: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Conditional:
    """A choice between two values: ``condition ? then : otherwise``."""

    condition: Node
    then: Node
    otherwise: Node
    depth: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Elvis:
    """``a ?: b ?: c``: the first of these values that is defined."""

    items: tuple[Node, ...]
    depth: int = field(default=0, compare=False)


Node: TypeAlias = (
    Literal | Name | Select | Index | FunctionCall | ListOf | RecordOf | Unary | Chain | Logic | Conditional | Elvis
)


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of the node."""
    match node:
        case Literal() | Name():
            return ()
        case Select() | Unary():
            return (node.of,)
        case Index():
            return (node.of, node.at)
        case FunctionCall():
            return node.arguments
        case ListOf() | Logic() | Elvis():
            return node.items
        case RecordOf():
            return tuple(value for _, value in node.entries)
        case Chain():
            return (node.first, *(operand for _, operand in node.rest))
        case _:
            return (node.condition, node.then, node.otherwise)


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and all nodes below it, in the order in which they appear in the text."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(reversed(children(found)))
