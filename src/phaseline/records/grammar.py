"""The grammar of expressions, and the syntax tree of a text; the only module that imports the parsing library.

Precedence from low to high: ``?:`` choices, ``||``, ``&&``, ``|``, ``^``, ``&``, equality, order and ``in``, shifts,
sums, products, signs, then ``.name``, ``[index]`` and calls. The operators of one level form a flat chain.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from lark import Lark, Transformer
from lark.exceptions import UnexpectedToken
from lark.lexer import Lexer
from lark.lexer import Token as Word

from phaseline.records import syntax_tree as syntax
from phaseline.records.lexer import (
    OPERATORS,
    WORDS,
    Token,
    check_nesting,
    number_of,
    tokens,
    too_deep,
    too_large,
    unquoted,
)
from phaseline.records.text_errors import TextError
from phaseline.records.values import MAX_DEPTH, MAX_INTEGER, MIN_INTEGER, ErrorValue

if TYPE_CHECKING:
    from phaseline.records.syntax_tree import Node

MAX_SOURCE = 16 * 1024
"""Largest length of an expression, in characters."""
MAX_WORDS = 4_096
"""Largest number of tokens in an expression; this many are parsed in far less than 0.1 s."""

SIGNS = {
    "?": "_ASK", ":": "_COLON", "?:": "_ELVIS", "||": "_OR", "&&": "_AND", "|": "PIPE", "^": "CARET", "&": "AMPERSAND",
    "==": "SAME", "!=": "SAME", "=?=": "SAME", "=!=": "SAME", "===": "SAME", "!==": "SAME",
    "<": "ORDER", "<=": "ORDER", ">": "ORDER", ">=": "ORDER",
    "<<": "SHIFT", ">>": "SHIFT", ">>>": "SHIFT", "+": "PLUS", "-": "PLUS", "*": "TIMES", "/": "TIMES", "%": "TIMES",
    "!": "NOT", "~": "NOT", ".": "_DOT", ",": "_COMMA", ";": "_SEMICOLON", "=": "_EQUALS", ":=": "_EQUALS",
    "(": "_LPAR", ")": "_RPAR", "[": "_LSQB", "]": "_RSQB", "{": "_LBRACE", "}": "_RBRACE",
}  # fmt: skip
"""The grammar's name for each sign: {sign: terminal}."""

SPELLINGS = {"=?=": "is", "===": "is", "=!=": "isnt", "!==": "isnt"}
"""Other spellings of operators: {sign: word with the same meaning}. The tree contains only the word."""

GRAMMAR = """
?start: conditional
?conditional: elvis
            | elvis _ASK conditional _COLON conditional
?elvis: disjunction (_ELVIS disjunction)*
?disjunction: conjunction (_OR conjunction)*
?conjunction: alternatives (_AND alternatives)*
?alternatives: exclusives (PIPE exclusives)*
?exclusives: commons (CARET commons)*
?commons: equality (AMPERSAND equality)*
?equality: order (SAME order)*
?order: shifted ((ORDER | IN) shifted)*
?shifted: total (SHIFT total)*
?total: product (PLUS product)*
?product: signed (TIMES signed)*
?signed: part
       | (PLUS | NOT) signed -> unary
?part: primary
     | part _DOT name -> select
     | part _LSQB conditional _RSQB -> index
?primary: NUMBER -> number
        | STRING -> string
        | WORD -> word
        | QUOTED -> quoted_name
        | NAME -> plain_name
        | NAME _LPAR (conditional (_COMMA conditional)*)? _RPAR -> call
        | _LPAR conditional _RPAR
        | _LBRACE (conditional (_COMMA conditional)*)? _RBRACE -> list_of
        | _LSQB entry? (_SEMICOLON entry?)* _RSQB -> record_of
entry: name _EQUALS conditional
name: NAME | QUOTED | WORD
"""
"""The grammar for the parsing library; terminals with a leading underscore do not appear in the tree."""


def tree_of(text: str) -> Node:
    """Return the syntax tree of the text. Raises ``TextError`` PL-R005 for a syntax error, PL-R007 if it is too large."""
    if len(text) > MAX_SOURCE:
        raise too_long(f"it has {len(text):,} characters, {MAX_SOURCE:,} are allowed")
    words = _words(text)
    if not words:
        raise TextError("PL-R005", "there is no expression", "write one, such as: Cores > 2")
    return _parsed(words, text)


def too_long(how: str) -> TextError:
    """Return the error for an expression that is too long; ``how`` describes its size."""
    return TextError("PL-R007", f"the expression is too long: {how}", "give parts of it names of their own")


def _words(text: str) -> list[Token]:
    """Return the tokens without spaces and comments, after a check of brackets and numbers."""
    found: list[Token] = []
    for word in tokens(text):
        if word.kind not in {"SPACE", "NEWLINE", "COMMENT"}:
            if word.kind == "NUMBER" and number_of(word) == MAX_INTEGER + 1 and not (found and found[-1].text == "-"):
                raise too_large(word)
            found.append(word)
            if len(found) > MAX_WORDS:
                raise too_long(f"it has more than {MAX_WORDS:,} words and signs")
    check_nesting(found)
    return found


def _parsed(words: list[Token], text: str) -> Node:
    try:
        # The library types what a transformer makes as a tree of its own.
        return cast("Node", parser().parse(cast("str", words)))
    except UnexpectedToken as error:
        raise _unexpected(error, words, text) from None


def _unexpected(error: UnexpectedToken, words: list[Token], text: str) -> TextError:
    word = error.token
    if word.type == "$END":
        return TextError("PL-R005", "the expression ends too early", "write what is missing after this", words[-1].end)
    at = word.start_pos or 0
    source = next(found.text for found in words if found.start == at)
    before = next((found for found in reversed(words) if found.start < at), None)
    return TextError("PL-R005", f"'{source[:40]}' is not expected here", _advice(source, before, text), at)


def _advice(source: str, before: Token | None, text: str) -> str:
    if source == "=":
        return "compare with == or is"
    if source.lower() in {"and", "or", "not"}:
        return "write && for and, || for or, ! for not"
    if before is not None and before.text.lower() == "not":
        return "write isnt, or ! before a condition"
    if source.startswith("'"):
        return 'put strings in double quotes: "…"'
    if before is not None and before.kind == "NAME":
        from phaseline.lang.did_you_mean import suggestion

        hint = suggestion(before.text, tuple(OPERATORS))
        if hint:
            return hint.strip()
    if before is not None and before.text == "{" and source == ",":
        return "leave out the comma"
    return "put an operator before it, such as == or &&" if len(text) > len(source) else "write a value or a name"


class Reader(Lexer):
    """The lexer for the parsing library: passes on the tokens of this package under the library's names."""

    def __init__(self, lexer_conf: Any) -> None:
        """Do nothing; the library passes its settings."""

    def lex(self, data: Any) -> Iterator[Word]:  # type: ignore[override]  # the library's older, simpler form of lexers
        """Yield each word as the library's token."""
        previous = ""
        for kind, text, start in data:
            if kind == "SIGN":
                name = SIGNS[text]
            elif kind == "NAME" and previous != ".":
                lower = text.lower()
                name = OPERATORS.get(lower) or ("WORD" if lower in WORDS else "NAME")
                name = "SAME" if name in {"IS", "ISNT"} else name
            else:
                name = kind
            yield Word(name, text, start)
            previous = text


class TreeMaker(Transformer[Any, Any]):
    """Makes the nodes of ``syntax`` while the text is parsed, from the leaves up and without recursion."""

    def conditional(self, parts: list[Node]) -> Node:
        """Return the node for ``a ? b : c``."""
        condition, then, otherwise = parts
        return syntax.Conditional(condition, then, otherwise, depth=_above(parts))

    def elvis(self, parts: list[Node]) -> Node:
        """Return the node for ``a ?: b``."""
        return syntax.Elvis(tuple(parts), depth=_above(parts))

    def disjunction(self, parts: list[Node]) -> Node:
        """Return the node for ``a || b``."""
        return syntax.Logic("||", tuple(parts), depth=_above(parts))

    def conjunction(self, parts: list[Node]) -> Node:
        """Return the node for ``a && b``."""
        return syntax.Logic("&&", tuple(parts), depth=_above(parts))

    def _chain(self, parts: list[Any]) -> Node:
        operands: list[Node] = parts[::2]
        signs = [SPELLINGS.get(sign, sign.lower()) for sign in parts[1::2]]
        return syntax.Chain(operands[0], tuple(zip(signs, operands[1:], strict=True)), depth=_above(operands))

    alternatives = exclusives = commons = equality = order = shifted = total = product = _chain

    def unary(self, parts: list[Any]) -> Node:
        """Return the node for a sign before an operand, such as ``-x``; a minus before a literal number becomes part of
        the number.
        """
        sign, of = parts
        if (
            sign == "-"
            and isinstance(of, syntax.Literal)
            and type(of.value) in {int, float}
            and of.value != MIN_INTEGER
        ):
            return syntax.Literal(-cast("int", of.value))
        return syntax.Unary(str(sign), of, depth=_above([of]))

    def select(self, parts: list[Any]) -> Node:
        """Return the node for ``a.b``; for ``my.b`` and ``self.b``, a name that is not searched in enclosing
        records.
        """
        of, name = parts
        if isinstance(of, syntax.Name) and not of.is_own and of.name.lower() in {"my", "self"}:
            return syntax.Name(name, is_own=True)
        return syntax.Select(of, name, depth=_above([of]))

    def index(self, parts: list[Node]) -> Node:
        """Return the node for ``a[b]``."""
        return syntax.Index(parts[0], parts[1], depth=_above(parts))

    def number(self, parts: list[Word]) -> Node:
        """Return the node for a number."""
        return syntax.Literal(number_of(Token("NUMBER", str(parts[0]), parts[0].start_pos or 0)))

    def string(self, parts: list[Word]) -> Node:
        """Return the node for a string."""
        return syntax.Literal(unquoted(parts[0]))

    def word(self, parts: list[Word]) -> Node:
        """Return the node for ``true``, ``false``, ``undefined`` or ``error``."""
        lower = parts[0].lower()
        return syntax.Literal(ErrorValue() if lower == "error" else WORDS[lower])

    def quoted_name(self, parts: list[Word]) -> Node:
        """Return the node for a name in single quotes, such as ``'any name'``."""
        return syntax.Name(unquoted(parts[0]))

    def plain_name(self, parts: list[Word]) -> Node:
        """Return the node for a name without quotes."""
        return syntax.Name(str(parts[0]))

    def name(self, parts: list[Word]) -> str:
        """Return a name after a dot or before an equals sign."""
        return unquoted(parts[0]) if parts[0].type == "QUOTED" else str(parts[0])

    def call(self, parts: list[Any]) -> Node:
        """Return the node for a call, such as ``f(a, b)``."""
        word, *arguments = parts
        return syntax.FunctionCall(str(word), tuple(arguments), word.start_pos or 0, depth=_above(arguments))

    def list_of(self, parts: list[Node]) -> Node:
        """Return the node for a list, such as ``{a, b}``."""
        return syntax.ListOf(tuple(parts), depth=_above(parts))

    def entry(self, parts: list[Any]) -> tuple[str, Node]:
        """Return (name, node of the value) for ``a = 1`` inside a record."""
        return (parts[0], parts[1])

    def record_of(self, parts: list[tuple[str, Node]]) -> Node:
        """Return the node for a record, such as ``[a = 1; b = 2]``."""
        return syntax.RecordOf(tuple(parts), depth=_above([node for _, node in parts]))


def _above(parts: list[Node]) -> int:
    """Return the depth of a node that has these parts: one more than the deepest part."""
    depth = 1 + max((part.depth for part in parts), default=0)
    if depth > MAX_DEPTH:
        raise too_deep(0)
    return depth


@lru_cache(maxsize=1)
def parser() -> Lark:
    """Return the parser, which is made only once: preparing the grammar takes some hundredths of a second."""
    declared = sorted({*SIGNS.values(), "NUMBER", "STRING", "WORD", "QUOTED", "NAME", "IN"})
    source = GRAMMAR + "%declare " + " ".join(declared) + "\n"
    return Lark(source, parser="lalr", lexer=Reader, transformer=TreeMaker(), maybe_placeholders=False)
