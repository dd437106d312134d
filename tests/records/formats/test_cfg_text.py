"""The informal syntax of ``.cfg`` files: texts without quotes, lists by commas, expressions behind an equals sign."""

from time import process_time

import pytest

from phaseline.model.problems.problem import ProblemsError
from phaseline.records.expression import Expression
from phaseline.records.formats.cfg_text import parse_definition
from phaseline.records.record import Record

FIRST_PLUGIN = """
# a phase of a made-up provider
HandlesStates = Allocation, Configuration
ResourceType = Cloud.Node
PhaseName: Acme.CreateInstance
Phase.Description = Creating an instance, slowly
  ForProvider   =   acme
Phase.SleepDelay = 2
Version = "1.10"
Disabled = FALSE
"""


def problems(text: str) -> list[tuple[str, int, int]]:
    with pytest.raises(ProblemsError) as caught:
        parse_definition(text, file="create.cfg")
    return [(problem.code, problem.place.line, problem.place.column) for problem in caught.value.problems]


def test_a_definition_is_read() -> None:
    assert parse_definition(FIRST_PLUGIN) == Record(
        {
            "HandlesStates": ("Allocation", "Configuration"),
            "ResourceType": "Cloud.Node",
            "PhaseName": "Acme.CreateInstance",
            "Phase": {"Description": "Creating an instance, slowly", "SleepDelay": 2},
            "ForProvider": "acme",
            "Version": "1.10",
            "Disabled": False,
        }
    )


@pytest.mark.parametrize("sign", [":=", ": =", "= =", "==", " :  = ", ":  ="])
def test_p12_an_expression_is_what_begins_with_an_equals_sign(sign: str) -> None:
    wanted = Record({"ResourceConstraint": Expression("FixedPublicIp isnt undefined")})
    assert parse_definition(f"ResourceConstraint {sign} FixedPublicIp isnt undefined") == wanted


def test_p13_a_condition_behind_one_equals_sign_is_text() -> None:
    found = parse_definition("ResourceConstraint = FixedPublicIp isnt undefined")
    assert found.stored("ResourceConstraint") == "FixedPublicIp isnt undefined"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("A = Creating host files", "Creating host files"),
        ("A = 12", 12),
        ("A = -1.5", -1.5),
        ("A = 1e3", 1000.0),
        ("A = 12 GB", "12 GB"),
        ("A = True", True),
        ('A = "a, \\"b\\""', 'a, "b"'),
        ('A = "a, b", c , 3, true', ("a, b", "c", 3, True)),
        ("A = {a, b}", "{a, b}"),
        ("A = f(a, b), c", ("f(a, b)", "c")),
        ("A =", ""),
        ("A = a:b=c", "a:b=c"),
        ("A : x", "x"),
        ("A = x # y", "x # y"),
    ],
)
def test_a_right_hand_side_becomes(line: str, wanted: object) -> None:
    found = parse_definition(line)["A"]
    assert found == wanted
    assert type(found) is type(wanted)


def test_dotted_names_make_nested_records() -> None:
    assert parse_definition("Source.Host = h\nSource.User = u") == Record({"Source": {"Host": "h", "User": "u"}})
    assert parse_definition("Phase.A.B = 1\nphase.Color = blue") == Record({"Phase": {"A": {"B": 1}, "Color": "blue"}})
    assert parse_definition("'Odd.Name' = 1") == Record({"Odd.Name": 1})


def test_a_description_is_always_text() -> None:
    assert parse_definition("Phase.Description = 1, 2")["Phase.Description"] == "1, 2"
    assert parse_definition('Phase_Description = "a, b"')["Phase_Description"] == "a, b"


def test_every_mistake_is_found_in_one_reading() -> None:
    text = 'A = 1\njust words\na = 2\nB := 1 +\nC = "x\nD = "x" y\nA.B = 1\nE. = 1\nF = 99999999999999999999\n= 1'
    assert problems(text) == [
        ("PL-R010", 2, 1),
        ("PL-R002", 3, 1),
        ("PL-R005", 4, 9),
        ("PL-R004", 5, 5),
        ("PL-R004", 6, 5),
        ("PL-R002", 7, 1),
        ("PL-R010", 8, 1),
        ("PL-R011", 9, 5),
        ("PL-R010", 10, 1),
    ]


def test_a_text_that_is_too_long_is_a_problem() -> None:
    assert problems("A = " + "x" * 2_000_000) == [("PL-R011", 1, 1)]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("a" + " " * 100_000, "PL-R010"),
        ("'" + "\\a" * 100_000, "PL-R010"),
        ('A = "' + "\\a" * 100_000, "PL-R004"),
        ("A := " + "[" * 100_000, "PL-R007"),
    ],
)
def test_p90_a_hostile_line_ends_soon(line: str, code: str) -> None:
    begun = process_time()
    assert [found for found, _, _ in problems(line)] == [code]
    assert process_time() - begun < 10


def test_lines_may_end_as_on_other_systems() -> None:
    assert parse_definition("A = 1\r\nB = x\r\n") == Record({"A": 1, "B": "x"})
