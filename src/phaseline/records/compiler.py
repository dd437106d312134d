"""Compile the tree of an expression to closures: each node becomes a function of (record, run).

As much as possible is done at compile time: names are converted to lower case and calls are checked. The most frequent
conditions (``X isnt undefined``, ``X == "text"``) have closures of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.records import syntax_tree as syntax
from phaseline.records.expression import Compiled, Expression, look_up, look_up_own
from phaseline.records.functions.registry import call_of
from phaseline.records.operators import SIGNS, UNARY, truth
from phaseline.records.record import Record
from phaseline.records.text_errors import TextError
from phaseline.records.values import ErrorValue, kind_of

if TYPE_CHECKING:
    from phaseline.records.evaluation import EvaluationState
    from phaseline.records.expression import Evaluate
    from phaseline.records.syntax_tree import Node
    from phaseline.records.values import Value


def closure_of(node: Node) -> Evaluate:
    """Return the closure of a tree. Raises ``TextError`` for functions that are unknown or given the wrong number of arguments."""
    match node:
        case syntax.Literal():
            return _constant(node.value)
        case syntax.Name():
            return _attribute(node.name.lower(), is_own=node.is_own)
        case syntax.Select():
            return _select(closure_of(node.of), node.name)
        case syntax.Index():
            return _index(closure_of(node.of), closure_of(node.at))
        case syntax.FunctionCall():
            return call_of(node, [closure_of(part) for part in node.arguments])
        case syntax.ListOf():
            return _list_of([closure_of(part) for part in node.items])
        case syntax.RecordOf():
            return _record_of(node)
        case syntax.Unary():
            return _unary(node.sign, closure_of(node.of))
        case syntax.Chain():
            return _special(node) or _chain(node)
        case syntax.Logic():
            return _logic([closure_of(part) for part in node.items], is_and=node.sign == "&&")
        case syntax.Conditional():
            return _conditional(closure_of(node.condition), closure_of(node.then), closure_of(node.otherwise))
        case _:
            return _elvis([closure_of(part) for part in node.items])


def _constant(value: Value) -> Evaluate:
    return lambda _record, _run: value


def _attribute(key: str, *, is_own: bool) -> Evaluate:
    if is_own:
        return lambda record, run: look_up_own(record, key, run)

    def attribute(record: Record, run: EvaluationState) -> Value:
        value = record.folded.get(key)
        if value is None or value.__class__ is Expression:
            return look_up(record, key, run)
        return value  # type: ignore[return-value]  # no expression

    return attribute


def _select(of: Evaluate, name: str) -> Evaluate:
    key = name.lower()

    def picked(value: Value, run: EvaluationState) -> Value:
        if isinstance(value, Record):
            return look_up(value, key, run)
        if value is None or isinstance(value, ErrorValue):
            return value
        return ErrorValue(f"the {kind_of(value)} has no attribute '{name}'")

    def select(record: Record, run: EvaluationState) -> Value:
        value = of(record, run)
        if isinstance(value, tuple):
            run.spend(len(value))
            return tuple(picked(item, run) for item in value)
        return picked(value, run)

    return select


def _index(of: Evaluate, at: Evaluate) -> Evaluate:
    def index(record: Record, run: EvaluationState) -> Value:
        value, position = of(record, run), at(record, run)
        for given in (value, position):
            if isinstance(given, ErrorValue):
                return given
        if value is None or position is None:
            return None
        if isinstance(value, tuple) and type(position) is int:
            if 0 <= position < len(value):
                return value[position]
            return ErrorValue(f"the list has {len(value)} elements, none is at {position}")
        if isinstance(value, Record) and isinstance(position, str):
            return look_up_own(value, position.lower(), run)
        return ErrorValue(f"{kind_of(value)}[{kind_of(position)}] means nothing")

    return index


def _list_of(items: list[Evaluate]) -> Evaluate:
    return lambda record, run: tuple([item(record, run) for item in items])


def _record_of(node: syntax.RecordOf) -> Evaluate:
    names = [name.lower() for name, _ in node.entries]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise TextError(
                "PL-R002", f"the record has '{node.entries[position][0]}' twice", "give each attribute one value"
            )
    entries = [
        (name, value.value if isinstance(value, syntax.Literal) else Expression.of(Compiled(value, closure_of(value))))
        for name, value in node.entries
    ]

    def record_of(record: Record, run: EvaluationState) -> Value:
        run.spend(len(entries))
        made = Record(entries)
        made.owner = record
        return made

    return record_of


def _unary(sign: str, of: Evaluate) -> Evaluate:
    apply = UNARY[sign]
    return lambda record, run: apply(of(record, run))


def _chain(node: syntax.Chain) -> Evaluate:
    first = closure_of(node.first)
    rest = [(SIGNS[sign], closure_of(operand)) for sign, operand in node.rest]
    if len(rest) == 1:
        apply, other = rest[0]
        return lambda record, run: apply(first(record, run), other(record, run), run)

    def chain(record: Record, run: EvaluationState) -> Value:
        value = first(record, run)
        for apply, other in rest:
            value = apply(value, other(record, run), run)
        return value

    return chain


def _special(node: syntax.Chain) -> Evaluate | None:
    """Return a closure for ``name is undefined`` and ``name isnt undefined``, which test only whether the value is defined."""
    if len(node.rest) != 1 or not isinstance(node.first, syntax.Name) or node.first.is_own:
        return None
    sign, operand = node.rest[0]
    if sign not in {"is", "isnt"} or operand != syntax.Literal(None):
        return None
    key = node.first.name.lower()
    if sign == "is":
        return lambda record, run: look_up(record, key, run) is None

    def is_defined(record: Record, run: EvaluationState) -> Value:
        value = record.folded.get(key)
        if value is None or value.__class__ is Expression:
            return look_up(record, key, run) is not None
        return True

    return is_defined


def _logic(items: list[Evaluate], *, is_and: bool) -> Evaluate:
    """Return a closure for three-valued ``&&`` or ``||``, which evaluates its operands from left to right.

    The first operand that decides (false for ``&&``, true for ``||``) or is an error is the result. Otherwise the
    result is undefined if an operand is undefined.
    """
    decides = not is_and

    def logic(record: Record, run: EvaluationState) -> Value:
        is_unknown = False
        for item in items:
            value = item(record, run)
            found = value if value.__class__ is bool else truth(value)
            if found is decides:
                return found
            if found is None:
                is_unknown = True
            elif found.__class__ is ErrorValue:
                return found
        return None if is_unknown else is_and

    return logic


def _conditional(condition: Evaluate, then: Evaluate, otherwise: Evaluate) -> Evaluate:
    def conditional(record: Record, run: EvaluationState) -> Value:
        found = truth(condition(record, run))
        if isinstance(found, bool):
            return then(record, run) if found else otherwise(record, run)
        return found

    return conditional


def _elvis(items: list[Evaluate]) -> Evaluate:
    def elvis(record: Record, run: EvaluationState) -> Value:
        value: Value = None
        for item in items:
            value = item(record, run)
            if value is not None:
                return value
        return value

    return elvis
