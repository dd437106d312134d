"""Expressions drawn at random over all functions, signs and scopes, and held against the reference implementation.

``python -m tests.records.drawn 100000`` (``make expressions``) draws that many; the default suite draws fewer. Where the two
disagree, the smallest part that does so is looked for, and what it is must be one of the listed differences.
"""

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tests.records.oracle import ATTRIBUTES, our_text, ours, reference

from phaseline.records import syntax_tree as syntax
from phaseline.records.expression import Expression
from phaseline.records.functions.registry import NAMES
from phaseline.records.grammar import tree_of
from phaseline.records.record import Record
from phaseline.records.syntax_tree import Node, children, walk
from phaseline.records.unparsing import text_of
from phaseline.records.values import ErrorValue

if TYPE_CHECKING:
    from phaseline.records.values import Value

ATOMS = (
    *("0", "1", "2", "7", "(-3)", "2.5", "(-0.5)", "true", "false", "undefined", "error"),
    *('"a"', '"A"', '"b, a"', '"12"', '""', '"ab c"', '"2026-11-21T10:00:00Z"', '"1+02:03:04"', '"."', '"i"', '"<"'),
)
SIGNS = (
    *("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>", "==", "!=", "<", "<=", ">", ">=", "is", "isnt"),
    *("=?=", "=!=", "&&", "||", "?:"),
)
ENTRIES = ("a", "b", "c", "foo")
ADDED = ("isrecord", "ifundefined", "abs", "startswith", "endswith", "trim", "versioncompare", "strjoin", "unparse")
SHARED = tuple(name for name in NAMES if name.lower() not in {*ADDED, "time"})
"""``time()`` asks a clock, and the clocks of the two are not one."""
COUNTS = {"ifthenelse": (3, 3), "substr": (2, 3), "regexp": (2, 3), "regexps": (3, 4), "join": (1, 3), "strcat": (0, 3)}
COUNTS |= dict.fromkeys(("member", "identicalmember", "strcmp", "stricmp"), (2, 2))
COUNTS |= dict.fromkeys(("anycompare", "allcompare"), (3, 3))
COUNTS |= dict.fromkeys(("stringlistmember", "stringlistimember"), (2, 3))
COUNTS |= dict.fromkeys(("split", "stringlistsize", "abstime", "formattime"), (1, 2))
"""{function in lower case: (fewest, most arguments)}; all others take one."""
TIMES = {"absTime": "1795255200", "relTime": "93784"}
"""The reference refuses a text that is no time where it stands in the expression itself, and makes a number of one that is."""
LEVELS = 3
LONGEST = 500
"""Characters of a difference that are shown."""
DEEP = 2
"""Levels of records that are compared: one that holds itself has no end."""


def drawn(chance: random.Random, names: tuple[str, ...] = (*ENTRIES, "x", "none"), levels: int = LEVELS) -> str:
    """An expression with at most so many levels; every part stands in brackets.

    ``names``: those that it may ask for. An attribute never asks for one that may ask for it: the reference crashes then.
    """
    kind = chance.random()
    if not levels or kind < 0.1:
        return chance.choice(names) if chance.random() < 0.3 else chance.choice(ATOMS)

    def inner() -> str:
        return drawn(chance, names, levels - 1)

    if kind < 0.4:
        return f"({inner()} {chance.choice(SIGNS)} ({inner()}))"
    if kind < 0.7:
        return _call(chance, inner)
    if kind < 0.75:
        return f"({inner()} ? {inner()} : {inner()})"
    if kind < 0.8:
        return f"({chance.choice('!-+~')}({inner()}))"
    if kind < 0.87:
        return _items(chance, inner)
    record, own = _record(chance, names, levels)
    return f"{record}.{chance.choice((*names, *own))}" if kind < 0.97 else f'{record}["{chance.choice(ENTRIES)}"]'


def _call(chance: random.Random, inner: Callable[[], str]) -> str:
    name = chance.choice(SHARED)
    count = chance.randint(*COUNTS.get(name.lower(), (1, 1)))
    arguments = [inner() for _ in range(count)]
    if name.lower() in {"anycompare", "allcompare"} and chance.random() < 0.9:
        arguments[0] = '"' + chance.choice(("<", "<=", "==", "!=", ">=", ">", "is", "isnt")) + '"'
    if name.lower() in {"regexp", "regexps"}:
        arguments[0] = chance.choice(('"a"', '"[a-b]+"', '"(.)b"', '"^$"', '"1|2"'))
    if name in TIMES and arguments[0].startswith('"'):
        arguments[0] = TIMES[name]
    return f"{name}({', '.join(arguments)})"


def _items(chance: random.Random, inner: Callable[[], str]) -> str:
    items = "{" + ", ".join(inner() for _ in range(chance.randint(0, 3))) + "}"
    return f"{items}[{inner()}]" if chance.random() < 0.4 else items


def _record(chance: random.Random, names: tuple[str, ...], levels: int) -> tuple[str, list[str]]:
    """(record, names of its attributes)."""
    own = chance.sample(ENTRIES, chance.randint(0, 3))
    outer = tuple(name for name in names if name not in own)
    entries = []
    for at, name in enumerate(own):
        known = (*outer, *own[:at])
        is_record = levels > 1 and chance.random() < 0.2
        value = _record(chance, known, levels - 1)[0] if is_record else drawn(chance, known, levels - 1)
        entries.append(f"{name} = {value}")
    chance.shuffle(entries)
    return "[" + "; ".join(entries) + "]", own


Around = Callable[[str], str]


@dataclass(frozen=True)
class Difference:
    """The smallest part on which the two disagree, as it stands in its scope, and why; ``reason`` is empty if nothing says so."""

    text: str
    reference: str
    ours: str
    reason: str


def compare(text: str) -> Difference | None:
    """Where the two disagree about the expression; None if they agree."""
    if _agree(text):
        return None
    part, around = _smallest(tree_of(text), lambda inner: inner)
    whole = around(bracketed(part))
    return Difference(whole[:LONGEST], reference(whole)[:LONGEST], ours(whole)[:LONGEST], reason_of(part, around))


def _value(text: str) -> "Value":
    return Expression(text).evaluate(Record(ATTRIBUTES), now=1e9)


def _agree(text: str, levels: int = DEEP) -> bool:
    """Lists and records are compared part by part, each asked for in the language: outside of it the reference loses their scope."""
    value = _value(text)
    if isinstance(value, tuple):
        return reference(f"isList({text})") == "true" and all(
            _agree(f"({text})[{at}]", levels) for at in range(len(value))
        )
    if isinstance(value, Record):
        is_one = reference(f"isClassAd({text})") == "true"
        return is_one and (not levels or all(_agree(f"({text}).{name}", levels - 1) for name in value))
    return reference(text) == our_text(value)


def bracketed(node: Node) -> str:
    """The text of a tree with every part in brackets, for the two do not agree on what ``?:`` binds."""
    parts = [f"({bracketed(part)})" for part in children(node)]
    match node:
        case syntax.Unary():
            return node.sign + parts[0]
        case syntax.Select():
            return f"{parts[0]}.{node.name}"
        case syntax.Index():
            return f"{parts[0]}[{parts[1]}]"
        case syntax.FunctionCall():
            return f"{node.name}({', '.join(map(bracketed, node.arguments))})"
        case syntax.ListOf():
            return "{" + ", ".join(map(bracketed, node.items)) + "}"
        case syntax.RecordOf():
            return "[" + "; ".join(f"{name} = {bracketed(of)}" for name, of in node.entries) + "]"
        case syntax.Chain():
            return parts[0] + "".join(f" {sign} {of}" for (sign, _), of in zip(node.rest, parts[1:], strict=True))
        case syntax.Conditional():
            return "{} ? {} : {}".format(*parts)
        case syntax.Logic() | syntax.Elvis():
            return f" {getattr(node, 'sign', '?:')} ".join(parts)
        case _:
            return text_of(node)


def _smallest(node: Node, around: Around) -> tuple[Node, Around]:
    """The first part, from the leaves up, on which the two disagree in its scope; no name where what it names is another part."""
    found = (node, around)
    for part, scope in _parts(node, around):
        if not _agree(scope(bracketed(part))):
            found = _smallest(part, scope)
            if not isinstance(found[0], syntax.Name | syntax.Select):
                break
    return found


def _parts(node: Node, around: Around) -> Iterator[tuple[Node, Around]]:
    if not isinstance(node, syntax.RecordOf):
        yield from ((part, around) for part in children(node))
        return
    text = bracketed(node)[1:-1]
    for _, part in node.entries:
        yield part, lambda inner: around(f"[{text}{'; ' if text else ''}within = ({inner})].within")


TEXT_MAKERS = ("string", "strcat", "join", "toupper", "tolower", "strcmp", "stricmp")
STRICT = ("floor", "ceiling", "round", "split", "stringlistsize", "abstime", "formattime")
LISTS = ("sum", "avg", "min", "max", "member", "identicalmember", "anycompare", "allcompare", "join")
NUMBERS = ("int", "real", "round", "floor", "ceiling")


def reason_of(node: Node, around: Around) -> str:
    """Which of the listed differences it is, as ``differences.tsv`` says; empty for none of them."""
    value = _value(around(bracketed(node)))
    given = (
        [_value(around(bracketed(part))) for part in children(node)] if not isinstance(node, syntax.RecordOf) else []
    )
    name = node.name.lower() if isinstance(node, syntax.FunctionCall) else ""
    said = value.reason if isinstance(value, ErrorValue) else ""
    first = given[0] if given else None
    is_computed = isinstance(node, syntax.FunctionCall) and not isinstance(node.arguments[:1], syntax.Literal)
    for reason, holds in (
        ("integers that overflow are an error", "64 bits" in said),
        ("reals that are no numbers are an error", "not finite" in said or said == "division by zero"),
        ("undefined stays undefined", name in STRICT and value is None),
        ("reals are written as short as can be", name in TEXT_MAKERS and any(map(_has_real, given))),
        ("lists and records are written without inner spaces", name in TEXT_MAKERS and any(map(_has_parts, given))),
        ("times and durations are written exactly", name in TEXT_MAKERS and any(map(_is_time, given))),
        ("lists and records can be identical", _is_identity(node) and any(map(_has_parts, given))),
        ("a text is a number or it is none", name in NUMBERS and said.endswith("is no number")),
        ("a text is a time or it is none", name in {"abstime", "reltime"} and isinstance(first, str) and is_computed),
        ("a shift by 64 bits leaves the number", _is_shift_by_all(node, given)),
        ("durations are added and written exactly", isinstance(first, timedelta) and _is_of_durations(node, name)),
        ("a time out of range is an error", said.endswith("that can be written")),
        ("formatTime takes texts that are times, and nothing but times", name == "formattime" and _is_odd_time(first)),
        ("what r[name] gives is a record", _is_picked(node, first, value)),
        ("a list keeps the scope in which it stands", name in LISTS and _comes_from_elsewhere(node, given)),
    ):
        if holds:
            return reason
    return ""


def _is_picked(node: Node, first: "Value", value: "Value") -> bool:
    """Whether it is a record that ``r[name]`` gave, or what was asked of one."""
    has_index = any(isinstance(part, syntax.Index) for part in walk(node))
    return has_index and (isinstance(value, Record) or isinstance(first, Record))


def _comes_from_elsewhere(node: Node, given: "list[Value]") -> bool:
    """Whether there is a list among the arguments that does not stand there itself."""
    is_named = any(isinstance(part, syntax.Name | syntax.Select | syntax.Index) for part in walk(node))
    return is_named and any(isinstance(value, tuple) for value in given)


def _is_of_durations(node: Node, name: str) -> bool:
    return name in {*NUMBERS, "bool"} or isinstance(node, syntax.Unary)


def _is_odd_time(value: "Value") -> bool:
    return isinstance(value, str | Record)


def _is_time(value: "Value") -> bool:
    return isinstance(value, datetime | timedelta)


def _has_real(value: "Value") -> bool:
    return isinstance(value, float) or (isinstance(value, tuple) and any(map(_has_real, value)))


def _has_parts(value: "Value") -> bool:
    return isinstance(value, tuple | Record)


def _is_shift_by_all(node: Node, given: "list[Value]") -> bool:
    by = given[-1] if given else None
    return isinstance(node, syntax.Chain) and node.rest[0][0] == ">>>" and isinstance(by, int) and by % 64 == 0


def _is_identity(node: Node) -> bool:
    return isinstance(node, syntax.Chain) and node.rest[0][0] in {"is", "isnt"}


def main(count: int, seed: int = 1) -> int:
    """Draw so many expressions; print what no list explains. The exit code."""
    chance = random.Random(seed)
    reasons: Counter[str] = Counter()
    unexplained: list[Difference] = []
    for _ in range(count):
        found = compare(drawn(chance))
        if found is not None:
            reasons[found.reason] += 1
            if not found.reason:
                unexplained.append(found)
    for one in unexplained[:50]:
        print(f"{one.text}\n    reference {one.reference}, ours {one.ours}")
    for reason, number in reasons.most_common():
        print(f"{number:8,} {reason or 'NOT LISTED'}")
    print(f"{count:,} expressions compared, {len(unexplained):,} differences that are not listed")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), *map(int, sys.argv[2:])))
