"""Expressions: texts that are parsed once and evaluated on any number of records.

Evaluation raises no exception: the result of an invalid computation is an ``ErrorValue`` with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from phaseline.records.evaluation import BUDGET, EvaluationState, Exhausted
from phaseline.records.lexer import quoted, tokens, unquoted
from phaseline.records.text_errors import TextError
from phaseline.records.values import ErrorValue, kind_of

if TYPE_CHECKING:
    from phaseline.records.record import Record
    from phaseline.records.syntax_tree import Node
    from phaseline.records.values import Value

Evaluate: TypeAlias = "Callable[[Record, EvaluationState], Value]"
"""The closure that a part of an expression is compiled to."""

REMEMBERED = 1_024
"""Largest number of expressions that are kept compiled."""
LONGEST_REMEMBERED = 1_000
"""Largest length, in characters, of an expression that is kept compiled, so that expressions sent by users do not fill
the memory.
"""


class Compiled:
    """A tree with its closure."""

    __slots__ = ("_cost", "evaluate", "node")

    def __init__(self, node: Node, evaluate: Evaluate) -> None:
        """Keep the tree and its closure."""
        self.node = node
        self.evaluate = evaluate
        self._cost = 0

    @property
    def cost(self) -> int:
        """The number of nodes of the expression, which is the minimum number of steps of one evaluation."""
        if not self._cost:
            from phaseline.records.syntax_tree import walk

            self._cost = sum(1 for _ in walk(self.node))
        return self._cost


@lru_cache(maxsize=REMEMBERED)
def compiled(text: str) -> Compiled:
    """Parse and compile the text, and cache the result. Raises ``TextError``."""
    return _compiled(text)


def _compiled(text: str) -> Compiled:
    from phaseline.records.compiler import closure_of
    from phaseline.records.grammar import tree_of

    node = tree_of(text)
    return Compiled(node, closure_of(node))


def _code_of(text: str) -> Compiled:
    return compiled(text) if len(text) <= LONGEST_REMEMBERED else _compiled(text)


class Expression:
    """An expression that can be evaluated; expressions with equal texts are equal."""

    __slots__ = ("_compiled", "_text")

    def __init__(self, text: str, *, file: str = "", subject: str = "") -> None:
        """Parse the text. Raises: ``ProblemsError`` with the place of the mistake (PL-R004 to PL-R008, PL-R011)."""
        try:
            self._compiled = _code_of(text)
        except TextError as fault:
            raise fault.error(text, file=file, subject=subject) from None
        self._text: str | None = one_line(text)

    @classmethod
    def read(cls, text: str) -> Expression:
        """Parse a part of a larger text. Raises ``TextError`` with the offset within this part."""
        made = cls.of(_code_of(text))
        made._text = one_line(text)
        return made

    @classmethod
    def of(cls, code: Compiled) -> Expression:
        """Return the expression for an already compiled part of another expression."""
        made = cls.__new__(cls)
        made._compiled = code
        made._text = None
        return made

    @property
    def text(self) -> str:
        """The text of the expression, on one line."""
        if self._text is None:
            from phaseline.records.unparsing import text_of

            self._text = text_of(self._compiled.node)
        return self._text

    def __eq__(self, other: object) -> bool:
        """Return True if the other object is an expression with the same text."""
        return isinstance(other, Expression) and self.text == other.text

    def __hash__(self) -> int:
        """Return a hash of the text."""
        return hash(self.text)

    def __repr__(self) -> str:
        """Return a Python expression that creates an equal object."""
        return f"Expression({self.text!r})"

    @property
    def cost(self) -> int:
        """The number of nodes of the expression: the steps that one evaluation takes from the budget."""
        return self._compiled.cost

    @property
    def run(self) -> Evaluate:
        """The closure of the expression, for evaluation within another evaluation."""
        return self._compiled.evaluate

    @property
    def node(self) -> Node:
        """The syntax tree of the expression."""
        return self._compiled.node

    def names(self) -> frozenset[str]:
        """Return the names, in lower case, of the attributes that the expression reads.

        The value of the expression changes only if one of these attributes changes.
        """
        from phaseline.records.syntax_tree import Name, walk

        return frozenset(node.name.lower() for node in walk(self.node) if isinstance(node, Name))

    def reaches(self) -> frozenset[str]:
        """Return the names from ``names`` and also each name after a dot, in lower case.

        A name after a dot can be found in an enclosing record, so the expression may depend on that attribute too.
        """
        from phaseline.records.syntax_tree import Name, Select, walk

        return frozenset(node.name.lower() for node in walk(self.node) if isinstance(node, Name | Select))

    def evaluate(self, record: Record, *, now: float | None = None) -> Value:
        """Return the value of the expression for this record. ``now`` is seconds since the epoch, for ``time()``."""
        return self.evaluate_all((record,), now=now)[0]

    def evaluate_all(self, records: Iterable[Record], *, now: float | None = None) -> list[Value]:
        """Return the value of the expression for each record, in order."""
        return _safely(self._compiled.evaluate, self._compiled.cost, records, now)

    def judge(self, record: Record, *, now: float | None = None) -> bool | ErrorValue:
        """Return whether a record fulfils the expression as a condition; see ``judge_all`` for the rules."""
        return self.judge_all((record,), now=now)[0]

    def judge_all(self, records: Iterable[Record], *, now: float | None = None) -> list[bool | ErrorValue]:
        """Return for each record whether it fulfils the condition, or an error if the value is neither a truth value nor a number.

        True and numbers other than zero count as true; false, zero and undefined count as false.
        """
        return [
            value if value.__class__ is bool else False if value is None else verdict(value)
            for value in _safely(self._compiled.evaluate, self._compiled.cost, records, now)
        ]


def verdict(value: Value) -> bool | ErrorValue:
    """Return what a value means as the result of a condition; text, lists and records are an error.

    >>> verdict(2), verdict(None), verdict("yes")
    (True, False, ErrorValue(reason='a condition gives true or false, this gave a string'))
    """
    if isinstance(value, bool | int | float):
        return bool(value)
    if value is None:
        return False
    if isinstance(value, ErrorValue):
        return value
    return ErrorValue(f"a condition gives true or false, this gave a {kind_of(value)}")


def look_up(record: Record, key: str, run: EvaluationState) -> Value:
    """Return the attribute with this key (its name in lower case) in the record or else in the nearest enclosing record."""
    scope: Record | None = record
    while scope is not None:
        value = scope.folded.get(key)
        if value is None:
            if key in scope.folded:
                return None
            scope = scope.owner
        elif isinstance(value, Expression):
            return run.attribute(scope, key, value)
        else:
            return value
    return None


def look_up_own(record: Record, key: str, run: EvaluationState) -> Value:
    """Return the attribute with this key in the record itself; enclosing records are not searched."""
    value = record.folded.get(key)
    return run.attribute(record, key, value) if isinstance(value, Expression) else value


def attribute_value(record: Record, key: str, now: float | None) -> Value:
    """Evaluate the attribute with this key in the record itself, as a new evaluation with a whole budget of steps."""
    return _safely(lambda scope, run: look_up_own(scope, key, run), 0, (record,), now)[0]


def _safely(evaluate: Evaluate, cost: int, records: Iterable[Record], now: float | None) -> list[Value]:
    """Return the results of the closure for the records; each record has its own budget of steps."""
    found: list[Value] = []
    append = found.append
    waiting = iter(records)
    budget = BUDGET - cost
    while True:
        run = EvaluationState(now)
        try:
            for record in waiting:
                run.steps = budget
                append(evaluate(record, run))
        except Exhausted:
            append(ErrorValue(f"the expression takes more than {BUDGET:,} steps"))
        except RecursionError:
            append(ErrorValue("the expression leads through too many attributes"))
        else:
            return found


def one_line(text: str) -> str:
    """Return the text without comments and line ends, as needed after ``:=``; strings keep line ends as escapes.

    >>> one_line(' a  // first' + chr(10) + '+ b ')
    'a + b'
    """
    text = text.strip()
    if not any(sign in text for sign in ("\n", "\r", "//", "/*")):
        return text
    parts: list[str] = []
    for word in tokens(text):
        if word.kind in {"SPACE", "NEWLINE", "COMMENT"}:
            if parts and parts[-1] != " ":
                parts.append(" ")
        else:
            parts.append(quoted(unquoted(word.text)) if word.kind == "STRING" else word.text)
    return "".join(parts).strip()
