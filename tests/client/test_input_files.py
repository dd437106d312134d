"""Inputs as users give them."""

import shlex
from pathlib import Path

import pytest

from phaseline.client.input_files import MAX_DEPTH, gather_inputs, read_said, read_value
from phaseline.model.problems.problem import ProblemsError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8080", 8080),
        ("1.5", 1.5),
        ("true", True),
        ("null", None),
        ("", ""),
        ("hello world", "hello world"),
        ("a: b: c", "a: b: c"),
        ("http://host:80/x", "http://host:80/x"),
        ("[1, {a: 2}]", [1, {"a": 2}]),
        ('"8080"', "8080"),
        ("2026-01-31", "2026-01-31"),
        ("{1: x}", {"1": "x"}),
        ("*anchor", "*anchor"),
    ],
)
def test_a_text_is_read_as_yaml_and_else_stays_a_text(text: str, value: object) -> None:
    assert read_value(text, "x") == value


def test_later_files_win_and_single_values_over_all(tmp_path: Path) -> None:
    for name, text in {"a": "x: 1\ny: 1\nz: 1", "b": "y: 2\nz: 2", "empty": ""}.items():
        (tmp_path / name).write_text(text)
    files = [str(tmp_path / name) for name in ("a", "b", "empty")]
    assert gather_inputs(files, ["z=3"]) == {"x": 1, "y": 2, "z": 3}


@pytest.mark.parametrize(
    "content", [b"[1]", b"a: [", b"\xff\xfe", b"just text", b"a: &x 1\nb: *x", b"{" * 200 + b"}" * 200]
)
def test_a_file_that_is_no_mapping_is_a_problem(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "inputs").write_bytes(content)
    with pytest.raises(ProblemsError) as error:
        gather_inputs([str(tmp_path / "inputs")])
    assert [problem.code for problem in error.value.problems] == ["PL-C020"]


@pytest.mark.parametrize("number", [".nan", ".inf", "-.inf"])
def test_a_file_with_a_number_that_is_none_of_json_is_a_problem(tmp_path: Path, number: str) -> None:
    (tmp_path / "inputs").write_text(f"x: {{below: [{number}]}}\n")
    with pytest.raises(ProblemsError, match="is a number that cannot be stored; write it as a text"):
        gather_inputs([str(tmp_path / "inputs")])


def test_every_unusable_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError) as error:
        gather_inputs([str(tmp_path / "a"), str(tmp_path), str(tmp_path / "b")])
    assert len(error.value.problems) == 3


def test_values_are_not_nested_without_end(tmp_path: Path) -> None:
    deep = "[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2)
    (tmp_path / "inputs").write_text(f"a: {deep}")
    with pytest.raises(ProblemsError):
        gather_inputs([str(tmp_path / "inputs")])
    with pytest.raises(ProblemsError):
        read_value(deep, "x")


def test_a_value_that_begins_like_yaml_and_is_none_is_a_problem_with_the_way_to_mean_text() -> None:
    texts = {"x": "[1", "fine": "2", "y": "{a: b", "z": '"open', "w": "it's: fine: so"}
    with pytest.raises(ProblemsError) as error:
        gather_inputs([], [f"{name}={text}" for name, text in texts.items()])
    assert [(problem.code, problem.place.subject) for problem in error.value.problems] == [
        ("PL-C025", "x"),
        ("PL-C025", "y"),
        ("PL-C025", "z"),
    ]
    assert error.value.problems[0].mend.endswith("""quote it as a text: 'x="[1"'""")
    assert read_value('"[1"', "x") == "[1"


@pytest.mark.parametrize("text", ["ready", "licence: A: 7", "[1", "{ready: tru", "", "2026-01-01"])
def test_11_what_is_said_with_data_is_never_taken_as_text_without_quotes(text: str) -> None:
    with pytest.raises(ProblemsError) as error:
        read_said(text)
    (problem,) = error.value.problems
    assert problem.code == "PL-C025"
    (quoted,) = shlex.split(problem.mend.rpartition("--data ")[2])
    assert read_said(quoted) == text


def test_unusable_files_and_values_are_told_together(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError) as error:
        gather_inputs([str(tmp_path / "none")], ["x=[1"])
    assert [problem.code for problem in error.value.problems] == ["PL-C020", "PL-C025"]


def test_inputs_of_all_forms_are_merged_in_the_order_in_which_they_are_given(tmp_path: Path) -> None:
    (tmp_path / "first.yaml").write_text("a: 1\nb: 1\nc: 1\nd: 1\n")
    (tmp_path / "second.json").write_text('{"b": 2, "c": 2, "d": 2, "e": {"deep": [1, null]}}')
    (tmp_path / "third.yaml").write_text("c: 3\nd: 3\n")
    given = ["c=9", str(tmp_path / "third.yaml"), '{"d": 4, "f": "x=y"}', "g={h: 1}"]
    found = gather_inputs([str(tmp_path / "first.yaml"), str(tmp_path / "second.json")], given)
    assert found == {"a": 1, "b": 2, "c": 3, "d": 4, "e": {"deep": [1, None]}, "f": "x=y", "g": {"h": 1}}


def test_a_mapping_that_cannot_be_used_is_told_without_what_it_says() -> None:
    with pytest.raises(ProblemsError) as error:
        gather_inputs([], ['{"hush": "hidden-input-value"', "{}"])
    (problem,) = error.value.problems
    assert problem.code == "PL-C020"
    assert "hidden" not in problem.message + problem.mend
