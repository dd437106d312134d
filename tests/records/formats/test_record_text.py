"""The formal text of records: reading it, all mistakes at once, and writing it so that reading gives the same."""

from datetime import UTC, datetime, timedelta
from time import process_time

import pytest
from hypothesis import example, given
from tests.records.made import records

from phaseline.model.problems.problem import ProblemsError
from phaseline.records.expression import Expression
from phaseline.records.formats.canonical_text import print_record, print_records
from phaseline.records.formats.record_text import parse_record, parse_records
from phaseline.records.record import Record
from phaseline.records.values import ErrorValue

SAMPLE = """
Name = "Node1"
Count = 3
Tags = {"a", "b"}
FullName := strcat(ClusterName, ".", Name)
PhaseMap = [ Phase1 = [ Status = "Completed" ];
             Phase2 = [ Status = "Sleeping"; OperationId = "abc123"; ]; ]
"""


def problems(text: str) -> list[tuple[str, int, int]]:
    """[(code, line, column)] in the order of the text."""
    with pytest.raises(ProblemsError) as caught:
        parse_records(text, file="nodes.rec")
    assert all(problem.place.file == "nodes.rec" for problem in caught.value.problems)
    return [(problem.code, problem.place.line, problem.place.column) for problem in caught.value.problems]


def test_the_sample_of_the_language_is_read() -> None:
    assert parse_record(SAMPLE) == Record(
        {
            "Name": "Node1",
            "Count": 3,
            "Tags": ("a", "b"),
            "FullName": Expression('strcat(ClusterName, ".", Name)'),
            "PhaseMap": {"Phase1": {"Status": "Completed"}, "Phase2": {"Status": "Sleeping", "OperationId": "abc123"}},
        }
    )
    assert parse_record(SAMPLE).changes() == {}


@given(records())
@example(Record({"PhaseMap": {"Acme.CreateInstance": {"Status": "Completed"}}, "Acme.X": 1}))
@example(Record({"Text": 'quotes " and \\ and\nnew\tlines \u2028 ü 🙂', "L": [[], {}, [None]], "R": {}}))
def test_p85_what_is_printed_is_read_again(record: Record) -> None:
    text = print_record(record)
    assert parse_record(text) == record
    assert print_record(parse_record(text)) == text


@given(records())
def test_p85_sorted_printing_is_the_same_record_in_one_order(record: Record) -> None:
    text = print_record(record, is_sorted=True)
    assert parse_record(text) == record
    backwards = Record([(name, record.folded[name.lower()]) for name in reversed(list(record))])
    assert print_record(backwards, is_sorted=True) == text


def test_p85_a_long_record_is_broken_into_lines_in_one_way() -> None:
    record = Record(
        {
            "PhaseMap": {"Acme.Create": {"Status": "Sleeping", "Message": "x" * 80}, "B": {"Status": "Completed"}},
            "Long": ["y" * 60, ["z" * 60, 1], {"a": "w" * 99}],
            "AdType": "Cloud.Node",
        }
    )
    assert print_record(record) == "\n".join(
        [
            'AdType = "Cloud.Node"',
            "PhaseMap = [",
            "    'Acme.Create' = [",
            '        Status = "Sleeping";',
            f'        Message = "{"x" * 80}";',
            "    ];",
            '    B = [Status = "Completed"];',
            "]",
            "Long = {",
            f'    "{"y" * 60}",',
            f'    {{"{"z" * 60}", 1}},',
            "    [",
            f'        a = "{"w" * 99}";',
            "    ]",
            "}",
            "",
        ]
    )
    assert parse_record(print_record(record)) == record


def test_literals_of_every_kind_are_read() -> None:
    text = """
A = -9223372036854775808
B = +1.5
C = 0x10
D = 2K
E = real("-INF")
F = absTime("2026-11-21T10:00:00Z")
G = relTime("1+00:00:01")
H = TRUE
I = undefined
J = error
K = {}
L = []
M = [;a = 1;;]
"""
    assert parse_record(text) == Record(
        {
            "A": -(2**63),
            "B": 1.5,
            "C": 16,
            "D": 2048,
            "E": float("-inf"),
            "F": datetime(2026, 11, 21, 10, tzinfo=UTC),
            "G": timedelta(days=1, seconds=1),
            "H": True,
            "I": None,
            "J": ErrorValue(),
            "K": (),
            "L": {},
            "M": {"a": 1},
        }
    )


def test_names_with_dots_are_one_name_and_others_stand_in_quotes() -> None:
    found = parse_record("Acme.Create = [Acme.Deep.Two = 1]\n'strange name!' = 2\n")
    assert found == Record({"Acme.Create": {"Acme.Deep.Two": 1}, "strange name!": 2})
    assert print_record(found) == "'Acme.Create' = ['Acme.Deep.Two' = 1]\n'strange name!' = 2\n"


def test_a_blank_line_ends_a_record_and_a_comment_does_not() -> None:
    text = '\n\n# of the first\nName = "a"\n# still the first\nSize = 1 // GB\n/* two\nlines */\nKind = "x"\n\n\n  \n"'
    found = parse_records(text[:-1] + "Name = {\n\n# in a bracket\n1}\n")
    assert found == [Record({"Name": "a", "Size": 1, "Kind": "x"}), Record({"Name": (1,)})]
    assert parse_records(print_records([*found, Record()])) == found
    assert parse_records("") == parse_records("# nothing\n\n") == []
    assert parse_record("") == Record()
    assert print_records([]) == ""


def test_several_records_where_one_is_expected_are_a_problem() -> None:
    with pytest.raises(ProblemsError) as caught:
        parse_record("A = 1\n\nA = 2\n")
    assert caught.value.problems[0].code == "PL-R001"


def test_every_mistake_of_a_text_is_found_in_one_reading() -> None:
    text = 'A = foo\nB = "x\nA2 = 1 + 2\nC := 1 +\nD = 1\nd = 2\nE\n= 3\nF = 99999999999999999999\nG = 1 2\nH :='
    assert problems(text) == [
        ("PL-R003", 1, 5),
        ("PL-R004", 2, 5),
        ("PL-R003", 3, 8),
        ("PL-R005", 4, 9),
        ("PL-R002", 6, 1),
        ("PL-R001", 7, 2),
        ("PL-R001", 8, 1),
        ("PL-R011", 9, 5),
        ("PL-R003", 10, 7),
        ("PL-R005", 11, 5),
    ]


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("A = ", "PL-R001", 1, 4),
        ("A = {1 2}", "PL-R001", 1, 8),
        ("A = {1,}", "PL-R003", 1, 8),
        ("A = [a = 1 b = 2]", "PL-R003", 1, 12),
        ("A = [a := ]", "PL-R005", 1, 11),
        ("A = [a = 1; A = 2]", "PL-R002", 1, 13),
        ("A = [1 = 2]", "PL-R001", 1, 6),
        ("A = [a 1]", "PL-R001", 1, 8),
        ("A. = 1", "PL-R001", 1, 4),
        ("'' = 1", "PL-R001", 1, 1),
        ("A = [a = 1", "PL-R001", 1, 5),
        ("A = 1]", "PL-R001", 1, 6),
        ("A = 1;", "PL-R001", 1, 6),
        ("A = 1; B = 2", "PL-R001", 1, 6),
        ("A = absTime(3)", "PL-R003", 1, 5),
        ('A = absTime("soon")', "PL-R003", 1, 5),
        ('A = relTime("1:00"', "PL-R001", 1, 12),
        ("A = absTime", "PL-R003", 1, 5),
        ("A = 9223372036854775808", "PL-R011", 1, 5),
        ("A = " + "{" * 101 + "}" * 101, "PL-R011", 1, 1),
        ("A = " + "{" * 201 + "}" * 201, "PL-R007", 1, 205),
        ("A = @", "PL-R001", 1, 5),
        ("A = 1 /* no end", "PL-R001", 1, 7),
        ('A = "one\ntwo"\nB = 1', "PL-R004", 1, 5),
        ("A := strcta(1)", "PL-R006", 1, 6),
        ("A = [\n  b := 1 +\n]", "PL-R005", 2, 11),
        ('A = "' + "x" * 2_000_000 + '"', "PL-R011", 1, 1),
    ],
)
def test_a_mistake_is_shown_where_it_is(text: str, code: str, line: int, column: int) -> None:
    assert problems(text)[0] == (code, line, column)


def test_reading_goes_on_after_a_comment_without_an_end() -> None:
    assert problems("A = 1 /* no end\nB = foo") == [("PL-R001", 1, 7), ("PL-R003", 2, 5)]


@pytest.mark.parametrize(
    "text",
    [
        "A = /* no end\n" * 100_000,
        'A = "' + "\\x" * 500_000,
        "A = " + "[" * 500_000,
        "A = {" * 100_000,
        "A := " + "a" * 1_000_000,
    ],
    ids=["comments", "escapes", "brackets", "lists", "a name"],
)
def test_p90_a_hostile_text_of_records_ends_soon(text: str) -> None:
    begun = process_time()
    assert problems(text)
    assert process_time() - begun < 20


def test_a_hundred_levels_are_read_printed_copied_and_compared() -> None:
    text = "A = " + "{" * 99 + "}" * 99
    nested = "A = " + "[B = " * 99 + "1" + "]" * 99
    for source in (text, nested):
        record = parse_record(source)
        assert parse_record(print_record(record)) == record.copy() == record.snapshot()


def test_many_records_are_read_in_reasonable_time() -> None:
    text = print_records([Record({"Name": f"n{number}", "Cores": 8, "Tags": ["a", "b"]}) for number in range(2_000)])
    begun = process_time()
    assert len(parse_records(text)) == 2_000
    assert process_time() - begun < 20
