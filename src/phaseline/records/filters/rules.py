"""The rules of a filter (LB3): one parser for the text of the command line and one for JSON, and the text of a rule.

A rule is about a label or an attribute. ``env=[dev,test]`` needs one of two values, ``env!=prod`` a value that is
another one, ``env is-not prod`` no such value, ``env is null`` no label ``env``. Attributes are compared by
``blueprint_id contains shop`` and others. A label whose key is the name of an attribute is written ``label:KEY``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NoReturn, TypeVar

from phaseline.lang.did_you_mean import suggestion
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.blueprint.label_rules import InvalidLabelError, valid_key, valid_value
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.records.filters.row_attributes import RULE_ATTRIBUTES

if TYPE_CHECKING:
    from phaseline.records.filters.row_attributes import FilteredKind

LABEL, ATTRIBUTE = "label", "attribute"
T = TypeVar("T")
LABEL_OPERATORS = ("any_of", "not_any_of", "is_not", "is_null", "is_not_null")
ATTRIBUTE_OPERATORS = (
    "any_of",
    "not_any_of",
    "contains",
    "not_contains",
    "starts_with",
    "ends_with",
    "is_not_empty",
)
WITHOUT_VALUES = frozenset({"is_null", "is_not_null", "is_not_empty"})
MOST_VALUES = 100
"""Largest number of values in a rule."""
MOST_RULES = 50
"""Largest number of rules in a filter."""
_WORDS: Mapping[str, str] = {
    "=": "any_of",
    "!=": "not_any_of",
    "is-not": "is_not",
    "is null": "is_null",
    "is not null": "is_not_null",
    "is not empty": "is_not_empty",
    "contains": "contains",
    "does-not-contain": "not_contains",
    "starts-with": "starts_with",
    "ends-with": "ends_with",
}
"""{words of a rule: operator in JSON}"""
_SIGNS = {operator: words for words, operator in _WORDS.items()}
_TEXT = re.compile(r"\s*(?P<key>[^\s=!]+)(?:\s*(?P<sign>!?=)|\s+(?P<word>[^\s=!\\]+)(?=\s|$))(?P<rest>.*)", re.DOTALL)
_UNESCAPED = re.compile(r"\\(.)|([,\[\]])|(.)", re.DOTALL)
_OF_LABEL = "label:"
_FORMS = "KEY=VALUE, KEY=[A,B], KEY!=VALUE, KEY is-not VALUE, KEY is null, ATTRIBUTE contains VALUE"


class FilterRule(NamedTuple):
    """One rule: what is compared, how, and with which values. Keys of labels are in lower case."""

    key: str
    operator: str
    values: tuple[str, ...] = ()
    type: Literal["label", "attribute"] = "label"

    def __str__(self) -> str:
        """Return the text of the rule, which is read as an equal rule whatever the names of attributes are."""
        return text_of_rule(self)


def parse_rules(texts: Sequence[str], noun: FilteredKind = "deployments") -> tuple[FilterRule, ...]:
    """Return the rules of the command line. Raises: PL-C150, PL-C151 for each that is wrong."""
    return _collected(_of_text, texts, noun)


def rules_of_json(value: object, noun: FilteredKind = "deployments") -> tuple[FilterRule, ...]:
    """Return the rules of a list ``{key, values, operator, type}``. Raises: PL-C150, PL-C151 for each that is wrong."""
    if not isinstance(value, list):
        _refuse(str(value), "rules are a list", "write a list of {key, values, operator, type}")
    return _collected(_of_mapping, value, noun)


def _collected(
    read: Callable[[T, FilteredKind], FilterRule], given: Sequence[T], noun: FilteredKind
) -> tuple[FilterRule, ...]:
    if len(given) > MOST_RULES:
        _refuse(
            "", f"a filter has at most {MOST_RULES} rules, this one has {len(given)}", "write an expression: --filter"
        )
    found: list[FilterRule] = []
    problems: list[Problem] = []
    for one in given:
        try:
            found.append(read(one, noun))
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(problems)
    return tuple(found)


def rule_object(rule: FilterRule) -> dict[str, object]:
    """Return a rule as JSON has it."""
    return {"key": rule.key, "values": list(rule.values), "operator": rule.operator, "type": rule.type}


def text_of_rule(rule: FilterRule) -> str:
    r"""Return the text of a rule.

    >>> text_of_rule(FilterRule("env", "any_of", ("a,b", "c"))), text_of_rule(FilterRule("id", "is_null"))
    ('env=[a\\,b,c]', 'label:id is null')
    """
    is_doubtful = rule.type == LABEL and any(rule.key in names for names in RULE_ATTRIBUTES.values())
    key, sign = f"{_OF_LABEL if is_doubtful else ''}{rule.key}", _SIGNS[rule.operator]
    if rule.operator in WITHOUT_VALUES:
        return f"{key} {sign}"
    texts = [_escaped(value) for value in rule.values]
    shown = texts[0] if len(texts) == 1 else f"[{','.join(texts)}]"
    return f"{key}{sign}{shown}" if sign.endswith("=") else f"{key} {sign} {shown}"


def _escaped(value: str) -> str:
    text = re.sub(r"([\\,\[\]])", r"\\\1", value)
    text = re.sub(r"^(?=\s)", r"\\", text)
    return re.sub(r"(\s)$", r"\\\1", text) if len(value) > 1 else text


def _of_text(text: str, noun: FilteredKind) -> FilterRule:
    found = _TEXT.fullmatch(text)
    if found is None:
        _refuse(text, f"'{text}' is no rule", f"write one of: {_FORMS}")
    key, rest = found["key"], found["rest"]
    words, shown = _operator(found["sign"] or found["word"], rest)
    operator = _WORDS.get(words)
    if operator is None:
        known = sorted(each for each in _WORDS if not each.endswith("="))
        hint = suggestion(words, known)
        _refuse(text, f"there is no operator '{words}'", f"{hint}there are: =, !=, {', '.join(known)}")
    is_label = key.startswith(_OF_LABEL)
    key = key.removeprefix(_OF_LABEL)
    names = RULE_ATTRIBUTES.get(noun, ())
    kind = LABEL if is_label or (key not in names and operator in LABEL_OPERATORS) else ATTRIBUTE
    return _checked(text, key, operator, _values(text, shown), kind, noun)


def _operator(word: str, rest: str) -> tuple[str, str]:
    """Return (the words of the operator, the text after them)."""
    if word != "is":
        return word, rest
    return " ".join(["is", *rest.split()]), ""


def _values(text: str, shown: str) -> list[str]:
    """Return the values after an operator: one, or those of a list in square brackets."""
    shown = shown.lstrip()
    if not shown.strip():
        return []
    parts, signs = [""], []
    lasting = [0]
    for escaped, sign, other in _UNESCAPED.findall(shown):
        if sign == "," or sign in {"[", "]"}:
            signs.append(sign)
        if sign == ",":
            parts.append("")
            lasting.append(0)
        elif sign in {"[", "]"} and (sign == "[" or signs[0] == "["):
            continue
        elif escaped:
            parts[-1] += escaped
            lasting[-1] = len(parts[-1])
        elif parts[-1] or not other.isspace():
            parts[-1] += sign or other
    is_list = signs[:1] == ["["] and signs[-1] == "]" and {"[", "]"}.isdisjoint(signs[1:-1])
    if signs and not is_list:
        _refuse(text, f"the values of '{text}' cannot be read", r"write [A,B], and \, \[ \] in a value")
    return [part[:last] + part[last:].rstrip() for part, last in zip(parts, lasting, strict=True)]


def _of_mapping(given: object, noun: FilteredKind) -> FilterRule:
    if not isinstance(given, dict) or not {"key", "operator", "values", "type"} >= given.keys() >= {"key", "operator"}:
        _refuse(str(given), "a rule is a mapping", "give it key, values, operator and type")
    key, operator, values = given["key"], given["operator"], given.get("values", [])
    kind = given.get("type", LABEL)
    shown = f"{key} {operator}"
    if not isinstance(key, str) or not isinstance(operator, str) or kind not in {LABEL, ATTRIBUTE}:
        _refuse(shown, f"the rule '{shown}' is not valid", "key and operator are text, the type is label or attribute")
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        _refuse(shown, f"the values of the rule '{shown}' are no list of texts", 'write them like ["a", "b"]')
    return _checked(shown, key, operator, values, kind, noun)


def _checked(text: str, key: str, operator: str, values: Sequence[str], kind: str, noun: FilteredKind) -> FilterRule:
    """Return the rule after a check of its parts. Raises: PL-C150, PL-C151."""
    is_label = kind == LABEL
    operators = LABEL_OPERATORS if is_label else ATTRIBUTE_OPERATORS
    if operator not in operators:
        hint = suggestion(operator, operators)
        what = "a label" if is_label else "an attribute"
        _refuse(text, f"there is no operator '{operator}' for {what}", f"{hint}there are: {', '.join(operators)}")
    if operator in WITHOUT_VALUES and values:
        _refuse(text, f"'{_SIGNS[operator]}' takes no values", f"write: {key} {_SIGNS[operator]}")
    if operator not in WITHOUT_VALUES and not (values and all(values)):
        _refuse(text, f"the rule '{text}' has no value", f"write one of: {_FORMS}")
    if len(values) > MOST_VALUES:
        _refuse(text, f"a rule has at most {MOST_VALUES} values, this one has {len(values)}", "write several filters")
    if not is_label:
        return FilterRule(_attribute(text, key, noun), operator, tuple(dict.fromkeys(values)), "attribute")
    try:
        key = valid_key(key, to_set=False)
        return FilterRule(key, operator, tuple(dict.fromkeys(_label_values(key, values))))
    except InvalidLabelError as error:
        _refuse(text, f"the rule '{text}' is not valid: {error}", f"write one of: {_FORMS}")


def _label_values(key: str, values: Sequence[str]) -> Iterator[str]:
    for value in values:
        yield valid_value(value, key)


def _attribute(text: str, key: str, noun: FilteredKind) -> str:
    names = RULE_ATTRIBUTES.get(noun, ())
    if key in names:
        return key
    hint = suggestion(key, names)
    message = f"{noun} have no attribute '{key}' for rules"
    raise problem_error("PL-C151", message, f"{hint}there are: {', '.join(names)}", subject=text)


def _refuse(text: str, message: str, mend: str) -> NoReturn:
    raise problem_error("PL-C150", message, mend, subject=text)
