"""Files with the inputs of members: CSV, JSON lines and YAML lists, each mistake with its line (GR1, A45)."""

from __future__ import annotations

from pathlib import Path

import pytest

from phaseline.client.estate.member_files import read_members
from phaseline.model.problems.problem import ProblemsError


def written(tmp_path: Path, name: str, text: str | bytes) -> str:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def lines(file: str) -> list[int]:
    """The lines of all mistakes in a file."""
    with pytest.raises(ProblemsError) as caught:
        read_members(file)
    assert {problem.code for problem in caught.value.problems} == {"PL-C164"}
    return [problem.place.line for problem in caught.value.problems]


def test_gr1_each_row_of_csv_is_a_member_of_texts(tmp_path: Path) -> None:
    found = read_members(written(tmp_path, "a.csv", '\ufeffid,note\na,"x\ny"\n\nb,\n'))
    assert [(one.inputs, one.place.line, one.are_texts) for one in found] == [
        ({"id": "a", "note": "x\ny"}, 2, True),
        ({"id": "b"}, 5, True),
    ]


def test_gr1_each_line_of_json_is_a_member(tmp_path: Path) -> None:
    found = read_members(written(tmp_path, "a.jsonl", '{"port": 1}\n\n{"port": [2]}\n'))
    assert [(one.inputs, one.place.line, one.are_texts) for one in found] == [
        ({"port": 1}, 1, False),
        ({"port": [2]}, 3, False),
    ]


def test_gr1_each_item_of_a_yaml_list_is_a_member(tmp_path: Path) -> None:
    found = read_members(written(tmp_path, "a.yaml", "# shops\n- port: 1\n- {port: 2}\n"))
    assert [(one.inputs, one.place.line) for one in found] == [({"port": 1}, 2), ({"port": 2}, 3)]


def test_gr1_mappings_of_a_program_are_members() -> None:
    assert [one.inputs for one in read_members([{"port": 1}, {}])] == [{"port": 1}, {}]


@pytest.mark.parametrize(
    ("name", "text", "wrong"),
    [
        ("a.csv", "a,b\n1\n1,2\n1,2,3\n", [2, 4]),
        ("a.csv", "a,a\n1,2\n", [1]),
        ("a.csv", 'a\n"x\n', [2]),
        ("a.csv", "a,b\n", [0]),
        ("a.csv", "", [0]),
        ("a.jsonl", '{"a": 1}\n{\n[1]\n{"a": NaN}\n', [2, 3, 4]),
        ("a.yaml", "- {a: 1}\n- 7\n- x\n", [2, 3]),
        ("a.yaml", "a: 1\n", [0]),
        ("a.yaml", "- &x {a: 1}\n- *x\n", [0]),
        ("a.yaml", "- {a: [}\n", [0]),
        ("a.yaml", b"- \xff\n", [0]),
    ],
)
def test_gr1_every_mistake_of_a_file_has_its_line(
    tmp_path: Path, name: str, text: str | bytes, wrong: list[int]
) -> None:
    assert lines(written(tmp_path, name, text)) == wrong


def test_gr1_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert lines(str(tmp_path / "none.csv")) == [0]
