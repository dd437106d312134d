"""Whatever is in a package, the answer is a package or problems: never a traceback, never both."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packages.made import GRANULAR, TASK, files, metadata

from phaseline.cli.render.problems import problems_document
from phaseline.model.packages.package import Package
from phaseline.model.problems.problem import Problem
from phaseline.model.problems.text import render_problem
from phaseline.packages.format.format_versions import FILES, FORMATS
from phaseline.packages.reader import read_package

WORDS = st.sampled_from(
    [
        *("role", "stage", "type", "parameters", "cmd", "timeout", "id", "requires", "cross-depends", "name", "policy"),
        *("attributes", "metadata", "restrictions", "condition", "value", "weight", "label", "regex", "source"),
        *("limits", "overrides", "min", "volumes", "volumes_roles_mapping", "properties", "vip", "yaql_exp", "*"),
        *("post_deployment/5", "shell", "settings:a.b == 1", "(", "/(/", "2.0.0", "strategy", "files", "retries"),
        *("package_version", "5.0.0", "10.0.0", "releases", "python", "paths", "hooks", "class", "types", "stages"),
    ]
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**20), st.floats(allow_nan=False), WORDS, st.text(max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=5)),
    max_leaves=12,
)


def sound(content: dict[str, bytes]) -> tuple[Package | None, tuple[Problem, ...]]:
    """What reading answers, looked at in every way in which it is shown."""
    read = read_package(content)
    errors = [problem for problem in read.problems if problem.severity == "error"]
    assert (read.package is None) == bool(errors)
    for problem in read.problems:
        assert render_problem(problem)
        assert problem.mend
    json.loads(problems_document(read.problems))
    return read.package, read.problems


@given(st.sampled_from(FILES), st.sampled_from([1, 2, 3, 4, 5, 10]), VALUES)
def test_values_of_any_form(name: str, number: int, value: Any) -> None:
    sound(files(number) | {name: json.dumps(value).encode()})


@given(st.sampled_from(FILES), st.sampled_from([2, 5, 10]), st.binary(max_size=200))
def test_any_bytes(name: str, number: int, content: bytes) -> None:
    sound(files(number) | {name: content})


@given(st.sampled_from([1, 2, 3, 4, 5, 10]), st.data())
def test_values_exchanged_within_files_that_are_all_right(number: int, data: st.DataObject) -> None:
    texts = [metadata(number), TASK, GRANULAR]
    which = data.draw(st.integers(0, 2))
    lines = texts[which].splitlines()
    place = data.draw(st.integers(0, len(lines) - 1))
    head, _, _ = lines[place].partition(":")
    lines[place] = f"{head}: {json.dumps(data.draw(VALUES))}"
    name = ("metadata.yaml", "tasks.yaml", "deployment_tasks.yaml")[which]
    sound(files(number) | {name: "\n".join(lines).encode()})


def test_no_file_at_all() -> None:
    package, (problem,) = sound({})
    assert package is None
    assert (problem.code, problem.message) == ("PL-F001", "package: metadata.yaml is missing")


@pytest.mark.parametrize("version", FORMATS)
@pytest.mark.parametrize("name", FILES)
def test_every_file_may_be_a_bomb(name: str, version: str) -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{b}: &{b} [{','.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    number = int(version.partition(".")[0])
    package, found = sound(files(number) | {name: bomb.encode()})
    assert package is None
    assert "PL-B007" in [problem.code for problem in found]
