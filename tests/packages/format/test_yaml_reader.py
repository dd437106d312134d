"""Files as bytes: size, letters, tags, and slips that hide nothing."""

import pytest
from tests.packages.made import TASK, codes, messages, package, problems

from phaseline.packages.format.yaml_reader import MAX_FILE_BYTES


def test_f48_a_file_of_more_than_5_mib_is_not_read() -> None:
    (problem,) = problems(5, tasks="#" * (MAX_FILE_BYTES + 1))
    assert (problem.code, problem.message) == ("PL-B003", "lma-1.0.2: tasks.yaml has more than 5 MiB")


def test_what_is_no_text_is_told_with_its_line() -> None:
    from tests.packages.made import files

    from phaseline.packages.reader import read_package

    (problem,) = read_package(files(5) | {"tasks.yaml": b"# a\n\xff"}).problems
    assert (problem.code, problem.place.line) == ("PL-B002", 2)


@pytest.mark.parametrize("tag", ["!!python/object:os.system", "!!python/name:os.system", "!mine"])
def test_no_tag_makes_an_object(tag: str) -> None:
    assert "PL-B008" in codes(2, environment_config=f"attributes: {tag} {{}}")


def test_the_tags_of_collections_have_a_meaning() -> None:
    roles = package(2, tasks=TASK.replace("['web']", "!!set {web, db}")).stage_tasks[0].roles
    assert roles.names == ("web", "db")
    assert package(2, tasks=TASK.replace("{cmd: ./a.sh, timeout: 60}", "!!omap [cmd: x, timeout: 5]")).stage_tasks[
        0
    ].parameters == {"cmd": "x", "timeout": 5}
    pairs = package(10, metadata=_with("extra: !!pairs [a: 1, a: 2]\n")).documents["metadata.yaml"]
    assert isinstance(pairs, dict)
    assert pairs["extra"] == [["a", 1], ["a", 2]]


@pytest.mark.parametrize("value", ["!!pairs {a: 1}", "!!omap [a]", "!!omap [{a: 1, b: 2}]", "!!set [a]"])
def test_a_tag_before_something_else_is_told(value: str) -> None:
    assert codes(10, metadata=_with(f"extra: {value}\n")) == ["PL-B004"]


def test_keys_are_text_whatever_yaml_takes_them_for() -> None:
    found = package(10, metadata=_with("on: 1\n5: 2\nno: 3\n")).documents["metadata.yaml"]
    assert isinstance(found, dict)
    assert {"on": 1, "5": 2, "no": 3}.items() <= found.items()
    assert codes(10, metadata=_with("on: 1\non: 2\n")) == ["PL-F059"]
    assert "PL-B006" in codes(10, metadata=_with("[a]: 1\n"))


def test_of_a_key_given_twice_the_last_counts_with_a_warning() -> None:
    tasks = TASK.replace("  type: shell\n", "  role: ['db']\n  type: shell\n")
    assert package(2, tasks=tasks).stage_tasks[0].roles.names == ("db",)
    (found,) = problems(2, tasks=tasks)
    assert (found.code, found.severity, found.place.line) == ("PL-F059", "warning", 3)
    assert "the key 'role' is given twice" in found.message
    slip = TASK.replace("post_deployment", "post_deployment:: 5") + tasks
    assert [(one.code, one.place.line) for one in problems(2, tasks=slip)] == [("PL-F010", 2), ("PL-F059", 7)]


def _with(more: str) -> str:
    from tests.packages.made import metadata

    return metadata(10, more)


def test_text_that_is_no_yaml_is_told_once_and_the_other_files_are_read() -> None:
    found = messages(5, tasks="- role: [\n", deployment_tasks="- id: 5\n")
    assert "tasks.yaml (line 2): not valid YAML" in found[0]
    assert any("id: 5 is no text" in message for message in found)


def test_a_slip_that_mends_nothing_leaves_the_message_of_the_reader() -> None:
    assert codes(2, tasks=TASK.replace("post_deployment", "post_deployment:: 5") + "- role: [\n") == ["PL-B004"]


def test_a_mended_text_keeps_the_lines_of_the_writer() -> None:
    slip = "- role: ['web']\n  stage: post_deployment\n  type: shell # why\n    cmd: it's\n    timeout: 42\n"
    found = problems(2, tasks=slip + TASK.replace("60", "'60'"))
    assert [(problem.place.line, problem.place.text) for problem in found] == [
        (4, "    cmd: it's"),
        (9, "  parameters: {cmd: ./a.sh, timeout: '60'}"),
    ]


def test_parameters_below_the_first_key_of_a_task_are_found_too() -> None:
    slip = "- type: shell\n    cmd: a\n    timeout: 42\n  role: ['web']\n  stage: post_deployment: 5\n"
    missing, stage = problems(2, tasks=slip)
    assert (missing.code, missing.place.line) == ("PL-F005", 2)
    assert (stage.code, stage.place.line, stage.place.text) == ("PL-F010", 5, "  stage: post_deployment: 5")


def test_a_slip_outside_of_lists_of_tasks_is_told_by_the_reader_alone() -> None:
    assert codes(2, environment_config="type: shell\n    cmd: x\n") in (["PL-B004"], ["PL-F004"], [])
