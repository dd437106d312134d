"""The functions beyond what the reference knows, and what they do with values that do not fit."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from phaseline.records.expression import Expression
from phaseline.records.functions.registry import NAMES
from phaseline.records.functions.time_functions import span_in
from phaseline.records.record import Record
from phaseline.records.values import ErrorValue

WANTED = [
    "isUndefined",
    "isError",
    "isString",
    "isInteger",
    "isReal",
    "isBoolean",
    "isList",
    "ifThenElse",
    "ifUndefined",
    "strcat",
    "strcat",
    "join",
    "split",
    "substr",
    "size",
    "toUpper",
    "toLower",
    "trim",
    "strcmp",
    "stricmp",
    "member",
    "identicalMember",
    "anyCompare",
    "allCompare",
    "sum",
    "min",
    "max",
    "avg",
    "int",
    "real",
    "string",
    "bool",
    "floor",
    "ceiling",
    "round",
    "abs",
    "regexp",
    "regexps",
    "startsWith",
    "endsWith",
    "contains",
    "time",
    "absTime",
    "relTime",
    "formatTime",
    "versionCompare",
    "stringListMember",
    "stringListSize",
    "unparse",
]


def value_of(text: str, **attributes: object) -> object:
    return Expression(text).evaluate(Record(attributes), now=0.0)


def test_every_function_that_the_language_must_have_is_there() -> None:
    assert set(WANTED) <= set(NAMES)


def test_every_function_is_on_the_page() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "expressions.md").read_text("utf-8")
    assert [name for name in NAMES if f"`{name}" not in page] == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SIZE({1, 2})", 2),
        ('size("äöü")', 3),
        ("size([a = 1])", 1),
        ("ifUndefined(none, 1)", 1),
        ("ifUndefined(2, 1 / 0)", 2),
        ("ifThenElse(true, 1, 1 / 0)", 1),
        ("ifThenElse(none, 1, 2)", None),
        ("abs(-3)", 3),
        ("abs(-2.5)", 2.5),
        ('startsWith("abc", "ab")', True),
        ('endsWith("abc", "BC")', False),
        ('contains("abc", "b")', True),
        ('contains("abc", "B")', False),
        ('trim(" a ")', "a"),
        ('versionCompare("1.10", "1.9")', 1),
        ('versionCompare("1.0", "1")', 0),
        ('versionCompare("1.0rc1", "1.0")', -1),
        ('versionCompare("2-1", "2-3")', -1),
        ('stringListMember("b", "a, b")', True),
        ('stringListIMember("B", "a, b")', True),
        ('stringListMember("b", "a;b", ";")', True),
        ('stringListSize("a, b,,")', 2),
        ('split("a b,c")', ("a", "b", "c")),
        ('split("ab", "")', ("ab",)),
        ('join("-", {1, none, "b"})', "1-b"),
        ('join({"a", "b"})', "ab"),
        ('join("x")', ""),
        ('join(none, {"a"})', "a"),
        ("unparse(1 + 2 * 3)", "1 + 2 * 3"),
        ("unparse(there)", '"x"'),
        ("unparse(nothing)", "nothing"),
        ("string(none)", None),
        ('string("a")', "a"),
        ("string(relTime(90))", "00:01:30"),
        ('string(absTime("2026-11-21"))', "2026-11-21T00:00:00+00:00"),
        ('bool(" TRUE ")', True),
        ("bool(relTime(0))", False),
        ('int("0x10")', 16),
        ('int("1e3")', 1_000),
        ('real("1.5")', 1.5),
        ("int(absTime(60))", 60),
        ("real(relTime(1.5))", 1.5),
        ("round(2.5)", 2),
        ('floor("1.5")', 1),
        ("max({1, 2.0, none})", 2.0),
        ("min({})", None),
        ("avg({})", 0),
        ("isRecord([])", True),
        ("isAbsTime(absTime(0))", True),
        ("isRelTime(relTime(0))", True),
        ('regexp("A", "xa", "i")', True),
        ('regexps("(b)(c)?", "abz", "<\\\\1\\\\2\\\\9\\\\q>", "f")', "a<b\\q>z"),
        ('regexps("a", "banana", "o", "fg")', "bonono"),
        ('regexps("z", "banana", "o")', ""),
        ('regexps("", "ab", "-", "fg")', "-a-b-"),
        ('formatTime(0, "%Y-%m-%d")', "1970-01-01"),
        ('formatTime(0, "%9999999Y%")', "%9999999Y%"),
        ("formatTime()", "Thu Jan  1 00:00:00 1970"),
        ("absTime(0, 3600) is absTime(0)", False),
        ("absTime(0, 3600) == absTime(0)", True),
        ("absTime(absTime(5)) == absTime(5)", True),
        ("relTime(relTime(5)) == relTime(5)", True),
        ("absTime() == absTime(0)", True),
    ],
)
def test_a_function_gives(text: str, wanted: object) -> None:
    found = value_of(text, there="x")
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('abs(true && "a")', "the string is neither true nor false"),
        ('abs("a")', "a number is needed, this is the string"),
        ("abs(-9223372036854775808)", "too large"),
        ("trim(3)", "a text is needed, this is the integer"),
        ("size(3)", "a text, list or record is needed, this is the integer"),
        ('startsWith(1, "a")', "a text is needed, this is the integer"),
        ('startsWith("a", 1)', "a text is needed, this is the integer"),
        ("sum(3)", "a list is needed, this is the integer"),
        ('sum({"a"})', "a number is needed, this is the string"),
        ("sum({error})", "the value error"),
        ("sum({9223372036854775807, 1})", "the result is an integer of more than 64 bits"),
        ('anyCompare("<>", {1}, 2)', "'<>' is no comparison; there are: < <= == != >= > is isnt"),
        ("anyCompare(1, {1}, 2)", "the integer is no comparison; there are: < <= == != >= > is isnt"),
        ('anyCompare("<", 1, 2)', "a list is needed, this is the integer"),
        ("anyCompare(error, {1}, 2)", "the value error"),
        ('int("x")', "'x' is no number"),
        ('int("1_000")', "'1_000' is no number"),
        ("int(1e300)", "the result is an integer of more than 64 bits"),
        ('int(real("INF"))', "the number is not finite"),
        ("int({1})", "a number is needed, this is the list"),
        ("bool({1})", "a truth value is needed, this is the list"),
        ("split(3)", "a text is needed, this is the integer"),
        ('split("a", 3)', "a text is needed, this is the integer"),
        ("stringListSize(3)", "a text is needed, this is the integer"),
        ('stringListMember(3, "a")', "a text is needed, this is the integer"),
        ('stringListMember("a", 3)', "a text is needed, this is the integer"),
        ("substr(3, 1)", "a text is needed, this is the integer"),
        ('substr("a", "b")', "an integer is needed, this is the string"),
        ('substr("a", 1, "b")', "an integer is needed, this is the string"),
        ("join(error, {1})", "the value error"),
        ('join(",", {error})', "the value error"),
        ('strcat("a", error)', "the value error"),
        ("toUpper(error)", "the value error"),
        ("strcmp(error, 1)", "the value error"),
        ('regexp(3, "a")', "a text is needed, this is the integer"),
        ('regexp("a", 3)', "a text is needed, this is the integer"),
        ('regexps("a", "b", 3)', "a text is needed, this is the integer"),
        ('regexps(3, "b", "c")', "a text is needed, this is the integer"),
        ('absTime("x")', "'x' is no time such as 2026-11-21T10:00:00Z"),
        ("absTime({1})", "a time is needed, this is the list"),
        ("absTime(true)", "a time is needed, this is the boolean"),
        ('absTime(0, "x")', "an integer is needed, this is the string"),
        ("absTime(1e300)", "this is no time that can be written"),
        ("absTime(0, 999999)", "this is no time that can be written"),
        ('relTime("x")', "'x' is no duration such as 1+02:03:04"),
        ("relTime(true)", "a duration is needed, this is the boolean"),
        ("relTime(1e300)", "the duration is out of range"),
        ('formatTime(0, "\\ud800")', "this time cannot be written that way"),
        ("formatTime(0, 1)", "a text of a format is needed, this is the integer"),
        ('formatTime("x")', "'x' is no time such as 2026-11-21T10:00:00Z"),
    ],
)
def test_a_function_that_cannot_says_why(text: str, reason: str) -> None:
    assert value_of(text) == ErrorValue()
    found = value_of(text)
    assert isinstance(found, ErrorValue)
    assert found.reason == reason


def test_texts_that_functions_make_are_at_most_a_mebibyte() -> None:
    half = "x" * 600_000
    for text in (
        "strcat(A, A)",
        "strcat(A, A, A, A)",
        'join("", {A, A})',
        'regexps("x", A, "yy", "fg")',
        "toUpper(strcat(A, A))",
    ):
        assert value_of(text, A=half) == ErrorValue()
    assert value_of('regexps("x", "xx", A, "g")', A=half) == ErrorValue()
    for text in ("toUpper(L)", 'strcmp("a", L)', "strcat(L)"):
        assert value_of(text, L=[half, half]) == ErrorValue()
    assert value_of('regexps("y", A, "z", "f")', A="x" * 10) == "x" * 10


def test_a_pattern_that_comes_from_a_record_is_an_error_when_it_cannot_be_used() -> None:
    found = value_of('regexp(P, "a")', P="(a")
    assert isinstance(found, ErrorValue)
    assert "missing" in found.reason
    assert value_of('regexp(P, "a")', P="a" * 1_001) == ErrorValue()
    assert value_of('regexps(P, "a", "b")', P="(a") == ErrorValue()


def test_without_a_clock_functions_of_now_are_errors() -> None:
    for text in ("time()", "absTime()", "formatTime()"):
        assert Expression(text).evaluate(Record()) == ErrorValue()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("1:30", 90),
        ("-0:30", -30),
        ("1d", 86_400),
        ("1d2h3m4.5s", 93_784.5),
        ("2+00:00:01", 172_801),
        (" 5s ", 5),
    ],
)
def test_a_span_is_read(text: str, seconds: float) -> None:
    assert span_in(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", " ", "-", "x", "1:2:3:4", "999999999999", "999999999d999h"])
def test_what_is_no_span_is_none(text: str) -> None:
    assert span_in(text) is None


def test_a_time_keeps_its_zone() -> None:
    zone = timezone(timedelta(hours=1))
    assert value_of('formatTime(T, "%H:%M")', T=datetime(2026, 1, 1, 8, tzinfo=zone)) == "08:00"
    assert value_of('formatTime(T, "%H:%M")', T=datetime(2026, 1, 1, 8, tzinfo=UTC)) == "08:00"
