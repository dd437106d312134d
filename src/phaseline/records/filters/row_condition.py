"""An expression over the rows of a list: the part that a store can test, and the rest, which is evaluated here (LB4).

A label may have several values. A comparison with a label is true if it is true for one of them; with ``!=`` and
``isnt``, if it is true for all. Elsewhere ``labels.KEY`` is the value, or the list of several.

Parts that are joined by ``&&`` may be evaluated in any order: a row for which one of them is false is not selected,
even if another cannot be evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import suggestion
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.row_queries import AllOf, AnyOf, NotThat, RowCheck, RowTest
from phaseline.records import syntax_tree as syntax
from phaseline.records.compiler import closure_of
from phaseline.records.expression import Compiled, Expression
from phaseline.records.filters.row_attributes import ATTRIBUTES, IN_STORE, LABELS
from phaseline.records.record import Record

if TYPE_CHECKING:
    from phaseline.model.rows.row_queries import TestKind
    from phaseline.records.filters.row_attributes import FilteredKind
    from phaseline.records.syntax_tree import Node
    from phaseline.records.values import ErrorValue, Value

_VALUES = "values of labels"
"""The attribute of a row's record with {key: list of values}; no expression can name it, because it is refused."""
_SUBJECT = "--filter"
_CALLS: Mapping[str, TestKind] = {"startswith": "starts", "endswith": "ends", "contains": "contains"}


class RowCondition:
    """A condition on the rows of a list.

    ``checks`` are what a store can test. ``rest`` is the condition on the rows that pass, or None if every row does.
    ``names`` are the attributes that ``rest`` reads, in lower case.
    """

    __slots__ = ("checks", "names", "rest", "text")

    def __init__(self, text: str, noun: FilteredKind) -> None:
        """Read an expression. Raises: PL-R004 to PL-R011 for a mistake, PL-C151 for an unknown attribute."""
        read = Expression(text, subject=_SUBJECT)
        self.text = read.text
        _check_names(read.node, noun)
        checks: list[RowCheck] = []
        rest: list[Node] = []
        for part in read.node.items if _is_and(read.node) else (read.node,):  # type: ignore[union-attr]  # a Logic
            found = _check_of(part, IN_STORE[noun])
            if found is None:
                rest.append(_with_any_value(part))
            elif found != AllOf(()):
                checks.append(found)
        self.checks = tuple(checks)
        self.rest = None
        self.names: frozenset[str] = frozenset()
        if rest:
            node = rest[0] if len(rest) == 1 else syntax.Logic("&&", tuple(rest))
            self.rest = Expression.of(Compiled(node, closure_of(node)))
            self.names = self.rest.names()

    def judge_all(self, records: Iterable[Record], *, now: float) -> list[bool | ErrorValue]:
        """Return for each record whether it fulfils ``rest``, or the reason why it cannot be evaluated."""
        if self.rest is None:
            return [True for _ in records]
        return self.rest.judge_all(records, now=now)


def record_of_row(attributes: Mapping[str, Value], labels: Mapping[str, Sequence[str]]) -> Record:
    """Return the record of a row. ``labels``: {key: values}."""
    shown: list[tuple[str, Value]] = [
        (key, values[0] if len(values) == 1 else tuple(values)) for key, values in labels.items()
    ]
    every: list[tuple[str, Value]] = [(key, tuple(values)) for key, values in labels.items()]
    return Record([*attributes.items(), (LABELS, Record(shown)), (_VALUES, Record(every))])


def _check_names(node: Node, noun: FilteredKind) -> None:
    known = {*ATTRIBUTES[noun], LABELS}
    own = {name.lower() for part in syntax.walk(node) if isinstance(part, syntax.RecordOf) for name, _ in part.entries}
    for part in syntax.walk(node):
        if isinstance(part, syntax.Name) and part.name.lower() not in known | own:
            hint = suggestion(part.name, known)
            message = f"{noun} have no attribute '{part.name}'"
            raise problem_error(
                "PL-C151",
                message,
                f"{hint}there are: {', '.join((*ATTRIBUTES[noun], f'{LABELS}.KEY'))}",
                subject=_SUBJECT,
            )


def _is_and(node: Node) -> bool:
    return isinstance(node, syntax.Logic) and node.sign == "&&"


def _label_key(node: Node) -> str | None:
    """Return the key if the node is ``labels.KEY`` or ``labels["KEY"]``."""
    of = node.of if isinstance(node, syntax.Select | syntax.Index) else None
    if not isinstance(of, syntax.Name) or of.name.lower() != LABELS:
        return None
    if isinstance(node, syntax.Select):
        return node.name.lower()
    at = node.at if isinstance(node, syntax.Index) else None
    return at.value.lower() if isinstance(at, syntax.Literal) and isinstance(at.value, str) else None


# -- what a store can test


def _check_of(node: Node, names: frozenset[str]) -> RowCheck | None:
    """Return the node as a check, or None if a store cannot evaluate it or if its evaluation can fail."""
    if isinstance(node, syntax.Literal) and node.value is True:
        return AllOf(())
    if isinstance(node, syntax.Unary) and node.sign == "!":
        found = _check_of(node.of, names)
        return None if found is None else NotThat(found)
    if isinstance(node, syntax.Logic):
        items = [_check_of(item, names) for item in node.items]
        if any(item is None for item in items):
            return None
        whole = tuple(item for item in items if item is not None)
        return AllOf(whole) if node.sign == "&&" else AnyOf(whole)
    if isinstance(node, syntax.FunctionCall) and len(node.arguments) == 2:  # a row and a text
        kind, text = _CALLS.get(node.name.lower()), _plain_text(node.arguments[1])
        name = _attribute_name(node.arguments[0], names)
        return None if kind is None or text is None or name is None else RowTest(name, kind, text)
    return _comparison(node, names) if isinstance(node, syntax.Chain) and len(node.rest) == 1 else None


def _comparison(node: syntax.Chain, names: frozenset[str]) -> RowCheck | None:
    (sign, right), left = node.rest[0], node.first
    if sign == "in":
        return _among(left, right, names)
    if isinstance(left, syntax.Literal):
        left, right = right, left
    subject = _subject(left, names)
    if subject is None or sign not in {"is", "isnt", "==", "!="} or not isinstance(right, syntax.Literal):
        return None
    name, is_label = subject
    if right.value is None and sign in {"is", "isnt"}:
        defined = RowTest(name, "defined", is_label=is_label)
        return NotThat(defined) if sign == "is" else defined
    text = _plain_text(right)
    if text is None or (sign in {"==", "!="} and not _is_simple(text)):
        return None
    test = RowTest(name, "is" if sign in {"is", "isnt"} else "equals", text, is_label)
    return NotThat(test) if sign in {"isnt", "!="} else test


def _among(left: Node, right: Node, names: frozenset[str]) -> RowCheck | None:
    """Return ``X in {a, b}``, or ``a in labels.KEY``, as a check."""
    if isinstance(right, syntax.ListOf):
        subject, texts = _subject(left, names), [_plain_text(item) for item in right.items]
    else:
        subject, texts = _subject(right, names), [_plain_text(left)]
        if subject is not None and not subject[1]:
            return None
    if subject is None or not texts or not all(text is not None and _is_simple(text) for text in texts):
        return None
    return AnyOf(tuple(RowTest(subject[0], "equals", text or "", subject[1]) for text in texts))


def _subject(node: Node, names: frozenset[str]) -> tuple[str, bool] | None:
    """Return (name of an attribute or key of a label, whether it is a label)."""
    key = _label_key(node)
    if key is not None:
        return key, True
    name = _attribute_name(node, names)
    return None if name is None else (name, False)


def _attribute_name(node: Node, names: frozenset[str]) -> str | None:
    name = node.name.lower() if isinstance(node, syntax.Name) else ""
    return name if name in names else None


def _plain_text(node: Node) -> str | None:
    """Return the text of a literal that a database can have: without NUL and halves of characters."""
    text = node.value if isinstance(node, syntax.Literal) else None
    if not isinstance(text, str) or "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        return None
    return text


def _is_simple(text: str) -> bool:
    """Return whether databases know the small letters of a text: it is ASCII."""
    return text.isascii()


# -- comparisons with labels that have several values


def _with_any_value(node: Node) -> Node:
    """Return the tree with comparisons of labels replaced by ones that look at all their values."""
    match node:
        case syntax.Chain():
            found = _any_value(node) if len(node.rest) == 1 else None
            if found is not None:
                return found
            rest = tuple((sign, _with_any_value(operand)) for sign, operand in node.rest)
            return syntax.Chain(_with_any_value(node.first), rest)
        case syntax.Logic():
            return syntax.Logic(node.sign, tuple(map(_with_any_value, node.items)))
        case syntax.Elvis():
            return syntax.Elvis(tuple(map(_with_any_value, node.items)))
        case syntax.Unary():
            return syntax.Unary(node.sign, _with_any_value(node.of))
        case syntax.FunctionCall():
            return syntax.FunctionCall(node.name, tuple(map(_with_any_value, node.arguments)), node.offset)
        case syntax.Conditional():
            condition, then, otherwise = map(_with_any_value, (node.condition, node.then, node.otherwise))
            return syntax.Conditional(condition, then, otherwise)
        case _:
            return node


def _any_value(node: syntax.Chain) -> Node | None:
    """Return a comparison of a label with a value as a search among all values of the label."""
    sign, right = node.rest[0]
    left = node.first
    if sign == "in":
        key, items = _label_key(left), right.items if isinstance(right, syntax.ListOf) else None
        if key is not None and items:
            return syntax.Logic("||", tuple(_member("member", item, key) for item in items))
        key = _label_key(right)
        return None if key is None else _member("member", left, key)
    if sign not in {"==", "!=", "is", "isnt"}:
        return None
    if _label_key(left) is None:
        left, right = right, left
    key = _label_key(left)
    if key is None or right == syntax.Literal(None):
        return None
    if sign in {"==", "!="}:
        found: Node = _member("member", right, key)
    else:
        found = syntax.Elvis((_member("identicalMember", right, key), syntax.Literal(value=False)))
    return syntax.Unary("!", found) if sign in {"!=", "isnt"} else found


def _member(function: str, value: Node, key: str) -> Node:
    every = syntax.Index(syntax.Name(_VALUES), syntax.Literal(key))
    return syntax.FunctionCall(function, (_with_any_value(value), every))
