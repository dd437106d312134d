"""The language of conditions in packages: ``settings:storage.ceph.value == true and not ('a' in cluster:tags)``.

Operators bind as in Fuel: ``not`` most tightly, then ``in``, then ``==`` and ``!=``, then ``and``, then ``or``. A path
names a value in one of the models passed at evaluation. A missing value is null if the path ends in ``?`` or the
evaluation is not strict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NoReturn, TypeAlias

from phaseline.lang.fast_dataclasses import frozen
from phaseline.packages.languages.slow_languages import ConditionError

MAX_TEXT: Final = 4_000
"""Largest length of a condition, in characters."""
MAX_NESTING: Final = 50
"""Largest depth of brackets and ``not`` within one another."""
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<text>\"[^\"]*\"|'[^']*')|(?P<path>\w*:[\w.\-]+\??)|(?P<number>-?[0-9]+)(?!\w)|(?P<sign>==|!=|\(|\))"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<end>$)|(?P<other>.))",
    re.DOTALL,
)
_CONSTANTS: Final = {"true": True, "false": False, "null": None}

Models: TypeAlias = "Mapping[str, Any]"
"""{model: nested mappings}: ``settings``, ``cluster``, ``networking_parameters`` and so on."""
Evaluation: TypeAlias = "Callable[[Models, bool], Any]"


@frozen
class Condition:
    """A condition that was parsed. ``paths`` are the paths of the values that it reads."""

    text: str
    evaluate: Evaluation
    paths: tuple[str, ...]


def value_of(text: str, models: Models, *, strict: bool = False) -> Any:
    """Return the value of an expression. Raises ``ConditionError``; for an unknown path only if ``strict``.

    >>> value_of("settings:a.value == 'x' or 3 in settings:b", {"settings": {"a": {"value": "y"}, "b": [3]}})
    True
    """
    return parsed(text).evaluate(models, strict)


def holds(text: str, models: Models, *, strict: bool = False) -> bool:
    """Return whether a condition is true; an empty condition is true. Raises ``ConditionError`` as ``value_of`` does."""
    return not text.strip() or bool(value_of(text, models, strict=strict))


@lru_cache(maxsize=4096)
def parsed(text: str) -> Condition:
    """Return the condition of a text. Raises ``ConditionError`` for a syntax error."""
    if len(text) > MAX_TEXT:
        raise ConditionError(f"it has more than {MAX_TEXT:,} characters", "shorten it")
    reading = _Reading(text)
    evaluate = reading.disjunction(0)
    if reading.kind != "end":
        reading.refuse()
    return Condition(text, evaluate, tuple(dict.fromkeys(reading.paths)))


class _Reading:
    """The parser's pass over the words of a text; ``kind`` and ``word`` describe the next word."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self.paths: list[str] = []
        self.kind, self.word = "", ""
        self.advance()

    def advance(self) -> str:
        """Return the next word and move to the word after it."""
        before = self.word
        found = _TOKEN.match(self._text, self._place)
        assert found is not None  # 'other' takes what nothing else does
        self._place = found.end()
        self.kind = found.lastgroup or "end"
        self.word = found[self.kind]
        return before

    def refuse(self) -> NoReturn:
        """Raise the error for an unexpected word."""
        if self.kind == "end":
            raise ConditionError("it ends too early", "write what is missing at its end")
        mend = "use == != and or not in, brackets, true false null, numbers, texts in quotes and model:path"
        if self.word in {"=", "&", "|", "!", "<", ">"}:
            meant = {"=": "==", "&": "and", "|": "or", "!": "not or !="}.get(self.word)
            mend = f"use {meant}" if meant else mend
        elif self.word in {"'", '"'}:
            mend = "close the quotes"
        elif self.kind == "word":
            mend = f"put it into quotes if it is a text: '{self.word}'"
        raise ConditionError(f"'{self.word}' is not expected there", mend)

    def _chain(
        self, words: Mapping[str, Callable[[Any, Any], Any]], part: Callable[[int], Evaluation], depth: int
    ) -> Evaluation:
        first = part(depth)
        rest: list[tuple[Callable[[Any, Any], Any], Evaluation]] = []
        while self.kind in {"word", "sign"} and self.word in words:
            rest.append((words[self.advance()], part(depth)))
        return _from_left(first, rest) if rest else first

    def disjunction(self, depth: int) -> Evaluation:
        """Read ``a or b``, and return its evaluation: the right operand is evaluated only if the left one is false."""
        parts = [self.conjunction(depth)]
        while self.kind == "word" and self.word == "or":
            self.advance()
            parts.append(self.conjunction(depth))
        return parts[0] if len(parts) == 1 else _first(parts, wanted=True)

    def conjunction(self, depth: int) -> Evaluation:
        """Read ``a and b``, and return its evaluation: the right operand is evaluated only if the left one is true."""
        parts = [self.comparison(depth)]
        while self.kind == "word" and self.word == "and":
            self.advance()
            parts.append(self.comparison(depth))
        return parts[0] if len(parts) == 1 else _first(parts, wanted=False)

    def comparison(self, depth: int) -> Evaluation:
        """Read ``a == b`` or ``a != b``, and return its evaluation."""
        return self._chain({"==": lambda a, b: a == b, "!=": lambda a, b: a != b}, self.membership, depth)

    def membership(self, depth: int) -> Evaluation:
        """Read ``a in b``, and return its evaluation."""
        return self._chain({"in": _is_in}, self.primary, depth)

    def primary(self, depth: int) -> Evaluation:
        """Read a constant, a path or an expression in brackets, or the negation of one of these, and return its
        evaluation.
        """
        if depth > MAX_NESTING:
            raise ConditionError(f"brackets are nested more than {MAX_NESTING} levels deep", "use fewer brackets")
        kind, word = self.kind, self.word
        if word == "not" and kind == "word":
            self.advance()
            of = self.primary(depth + 1)
            return lambda models, strict: not of(models, strict)
        if word == "(" and kind == "sign":
            self.advance()
            inner = self.disjunction(depth + 1)
            if self.word != ")":
                self.refuse()
            self.advance()
            return inner
        if kind == "path":
            self.advance()
            self.paths.append(word.removesuffix("?"))
            return _path(word)
        constant: Any
        if kind == "text":
            constant = word[1:-1]
        elif kind == "number":
            constant = int(word)
        elif kind == "word" and word in _CONSTANTS:
            constant = _CONSTANTS[word]
        else:
            self.refuse()
        self.advance()
        return lambda _models, _strict: constant


def _from_left(first: Evaluation, rest: list[tuple[Callable[[Any, Any], Any], Evaluation]]) -> Evaluation:
    """Return an evaluation that applies the operators from left to right, without nesting, so that long chains work."""

    def evaluate(models: Models, strict: bool) -> Any:  # noqa: FBT001 - the form of all evaluations
        value = first(models, strict)
        for combine, part in rest:
            value = combine(value, part(models, strict))
        return value

    return evaluate


def _first(parts: list[Evaluation], *, wanted: bool) -> Evaluation:
    """Return an evaluation whose result is the first part that is true (if ``wanted``) or false (if not), otherwise the
    last part.
    """

    def evaluate(models: Models, strict: bool) -> Any:  # noqa: FBT001 - the form of all evaluations
        value = None
        for part in parts:
            value = part(models, strict)
            if bool(value) is wanted:
                break
        return value

    return evaluate


def _is_in(item: Any, among: Any) -> bool:
    if isinstance(among, str):
        return isinstance(item, str) and item in among
    return item in among if isinstance(among, list | tuple | dict) and not isinstance(item, dict | list) else False


def _path(word: str) -> Evaluation:
    name, _, rest = word.removesuffix("?").partition(":")
    steps, is_optional = rest.split("."), word.endswith("?")

    def evaluate(models: Models, strict: bool) -> Any:  # noqa: FBT001 - the form of all evaluations
        value: Any = models.get(name, {})
        for step in steps:
            if isinstance(value, Mapping) and step in value:
                value = value[step]
            elif strict and not is_optional:
                mend = f"write {name}:{rest}? where it may be missing"
                raise ConditionError(f"there is no value at {name}:{rest}", mend)
            else:
                return None
        return value

    return evaluate
