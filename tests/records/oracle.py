"""The reference implementation of the language, asked as we are, and its answers in our words."""

from datetime import UTC, datetime, timedelta

import classad2

from phaseline.model.problems.problem import ProblemsError
from phaseline.records.expression import Expression
from phaseline.records.record import Record
from phaseline.records.unparsing import value_text
from phaseline.records.values import ErrorValue

ATTRIBUTES = {"foo": 3, "x": 5}
classad2.ExprTree("[]").eval()  # the first record that the reference makes brings half of its functions


def reference(text: str) -> str:
    """What the reference gives, in our words."""
    try:
        tree = classad2.ExprTree(text)
    except classad2.ClassAdException:
        return "refused"
    try:
        return reference_text(tree.eval(classad2.ClassAd(ATTRIBUTES)))
    except (UnicodeDecodeError, classad2.ClassAdException):
        return "raised"


def reference_text(value: object) -> str:
    if value is classad2.Value.Undefined:
        return "undefined"
    if value is classad2.Value.Error:
        return "error"
    if isinstance(value, list):
        return "{" + ", ".join(reference_text(item) for item in value) + "}"
    if isinstance(value, classad2.ClassAd):
        return "[" + "; ".join(sorted(f"{name} = {reference_text(value.eval(name))}" for name in value)) + "]"
    if isinstance(value, classad2.ExprTree):
        return reference_text(value.eval())
    return plain_text(value)


def ours(text: str) -> str:
    try:
        return our_text(Expression(text).evaluate(Record(ATTRIBUTES), now=1e9))
    except ProblemsError:
        return "refused"


def our_text(value: object) -> str:
    if isinstance(value, ErrorValue):
        return "error"
    if isinstance(value, tuple):
        return "{" + ", ".join(our_text(item) for item in value) + "}"
    if isinstance(value, Record):
        return "[" + "; ".join(sorted(f"{name} = {our_text(value.get(name))}" for name in value)) + "]"
    return plain_text(value)


def plain_text(value: object) -> str:
    """The reference gives durations in seconds and times in UTC."""
    if isinstance(value, timedelta):
        return value_text(value.total_seconds())
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value_text(value)
