"""Source document 4: in which order stage tasks run, and that the order told is the order run (F1-F11, F27, F28, F33-F36)."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.acceptance.source4_packages import Enabled, Played, granular_task, package, stage_task, stages_of

from bench.stages import MOST_GRAPH_MS, MOST_ORDER_MS, granular_packages, graph_ms, order_ms, stage_packages
from phaseline.model.packages.package import Package
from phaseline.packages.task_order import key_of, ordered
from phaseline.testing.builders import blueprint, node
from phaseline.testing.scripted_executor import fails

APPLICATION = blueprint(node("db", create="cloud.make"), node("web", create="cloud.make", to=["db"], instances=2))
PRE, POST = "pre_deployment", "post_deployment"


def order_of(*packages: Package) -> list[str]:
    return [f"{task.written} {task.plugin}" for task in ordered(packages)]


def always(expected: list[str], *packages: Package) -> None:
    """The order is this one, whatever was installed when."""
    for installed in permutations(packages):
        assert order_of(*installed) == expected


def test_f1_the_example_of_the_source_comes_out_as_it_says() -> None:
    one = package("plugin1", PRE, f"{PRE}/100", f"{PRE}/-100", f"{PRE}/-99.9")
    two = package("plugin2", PRE, f"{PRE}/100.0", f"{PRE}/-101", f"{PRE}/0")
    expected = [
        f"{PRE}/-101 plugin2", f"{PRE}/-100 plugin1", f"{PRE}/-99.9 plugin1",
        f"{PRE} plugin1", f"{PRE} plugin2", f"{PRE}/0 plugin2",
        f"{PRE}/100 plugin1", f"{PRE}/100.0 plugin2",
    ]  # fmt: skip
    always(expected, one, two)


def test_f2_of_two_packages_the_smaller_number_comes_first() -> None:
    always([f"{POST}/50 b", f"{POST}/100 a"], package("a", f"{POST}/100"), package("b", f"{POST}/50"))


def test_f3_the_number_counts_more_than_the_name() -> None:
    always([f"{PRE}/100 z", f"{PRE}/200 a"], package("a", f"{PRE}/200"), package("z", f"{PRE}/100"))


def test_f4_equal_numbers_go_by_the_name_whoever_was_installed_first() -> None:
    always([f"{PRE}/100 a", f"{PRE}/100 z"], package("z", f"{PRE}/100"), package("a", f"{PRE}/100"))


def test_f5_no_number_is_zero_and_so_is_minus_zero() -> None:
    found = package("a", f"{PRE}/-0", PRE, f"{PRE}/0")
    assert len({key_of(task)[:3] for task in found.stage_tasks}) == 1
    always([f"{PRE}/-0 a", f"{PRE} a", f"{PRE}/0 a"], found)


def test_f6_numbers_compare_as_numbers_and_ties_by_name_then_place() -> None:
    one = package("name1", f"{PRE}/-100", f"{PRE}/100.0", f"{PRE}/+100", PRE)
    two = package("name2", f"{PRE}/-99", f"{PRE}/100", PRE)
    expected = [
        f"{PRE}/-100 name1", f"{PRE}/-99 name2", f"{PRE} name1", f"{PRE} name2",
        f"{PRE}/100.0 name1", f"{PRE}/+100 name1", f"{PRE}/100 name2",
    ]  # fmt: skip
    always(expected, two, one)


def test_f7_tasks_of_one_package_with_one_number_keep_the_order_of_their_file() -> None:
    assert [task.index for task in ordered([package("a", *[f"{POST}/6000"] * 5)])] == [0, 1, 2, 3, 4]


def test_f8_fractions_are_exact() -> None:
    a, b, c = package("a", f"{PRE}/0.1"), package("b", f"{PRE}/0.10"), package("c", f"{PRE}/0.09")
    always([f"{PRE}/0.09 c", f"{PRE}/0.1 a", f"{PRE}/0.10 b"], a, b, c)


def test_f9_numbers_that_no_float_tells_apart_keep_their_order() -> None:
    always(
        [f"{PRE}/9007199254740992 z", f"{PRE}/9007199254740993 a"],
        package("a", f"{PRE}/9007199254740993"),
        package("z", f"{PRE}/9007199254740992"),
    )


def test_f10_names_compare_by_code_point() -> None:
    names = ["a-b", "a1", "a_b", "ab"]
    always([f"{PRE}/7 {name}" for name in names], *(package(name, f"{PRE}/7") for name in reversed(names)))


def test_f11_pre_tasks_run_before_the_body_and_post_tasks_after_it() -> None:
    played = Played(APPLICATION)
    row = played.run([package("a", f"{POST}/-1", f"{PRE}/8999")])
    assert row.status.value == "completed"
    assert played.graphs(row) == ["stage pre_deployment", "install", "stage post_deployment"]
    assert played.calls == [
        "a#2 db_1", "a#2 web_1", "a#2 web_2",
        "create db_1", "create web_1", "create web_2",
        "a#1 db_1", "a#1 web_1", "a#1 web_2",
    ]  # fmt: skip


NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-10_000, max_value=10_000, places=2)
STAGES = st.builds(
    lambda stage, number: stage if number is None else f"{stage}/{number:f}",
    st.sampled_from([PRE, POST]),
    st.none() | NUMBERS | st.sampled_from([0, 100, -100]),
)
PACKAGES = st.dictionaries(
    st.sampled_from(["a", "a-b", "a1", "a_b", "ab", "z"]),
    st.lists(STAGES, min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


@given(PACKAGES, st.randoms(use_true_random=False))
def test_the_order_is_total_and_independent_of_what_was_installed_when(said, random) -> None:
    packages = [package(name, *stages) for name, stages in said.items()]
    expected = ordered(packages)
    assert len({key_of(task) for task in expected}) == len(expected)
    assert list(expected) == sorted(expected, key=key_of)
    random.shuffle(packages)
    assert ordered(packages) == expected


@given(PACKAGES)
def test_f36_the_order_told_is_the_order_of_the_list_and_of_the_calls(said) -> None:
    packages = [package(name, *stages) for name, stages in said.items()]
    told = [f"{task.plugin}#{task.index + 1}" for task in ordered(packages)]
    assert [task.phase for task in stages_of(packages)] == told
    played = Played(blueprint(node("db")))
    assert played.run(packages[::-1]).status.value == "completed"
    assert played.tasks == told


def test_f27_the_list_has_defaults_keeps_what_is_said_and_counts_priorities_in_each_stage() -> None:
    plain = "- role: '*'\n  stage: post_deployment/2\n  type: shell\n  parameters: {cmd: a, timeout: 9}\n"
    said = stage_task(
        f"{POST}/1",
        diagnostic_name="mine",
        fail_on_error=False,
        parameters={"retries": 7, "interval": 2, "cwd": "/opt"},
    )
    packages = [
        Enabled(package("net", tasks=plain + said + stage_task(PRE), version="2.0.1"), {"port": 1}, "/packages/net")
    ]
    pre, first, second = stages_of(packages).tasks
    assert [pre.priority, first.priority, second.priority] == [100, 100, 200]
    assert second.parameters == {"cmd": "a", "timeout": 9, "cwd": ".", "retries": 3, "interval": 1}
    assert (second.title, second.fail_on_error) == ("net-2.0.1", True)
    assert first.parameters == {"cmd": "./a.sh", "timeout": 60, "retries": 7, "interval": 2, "cwd": "/opt"}
    assert (first.title, first.fail_on_error) == ("mine", False)
    assert (second.origin.folder, Path(second.origin.scripts), second.origin.settings) == (
        "/packages/net",
        Path("deployment_scripts"),
        {"port": 1},
    )


def test_f27_a_granular_task_has_more_time_where_its_file_says_nothing() -> None:
    tasks = granular_task("a", kind="reboot") + granular_task("b", parameters={"strategy": {"type": "one_by_one"}})
    reboot, shell = stages_of([package("net", granular=tasks)]).tasks
    assert (reboot.parameters, shell.at_once) == ({"timeout": 900}, 1)
    assert shell.parameters == {"cmd": "./b.sh", "retries": 0, "interval": 1, "timeout": 300, "cwd": "."}


def test_f28_a_task_whose_role_nobody_has_is_not_run() -> None:
    played = Played(APPLICATION)
    tasks = stage_task(POST, role="[nobody]") + stage_task(POST, role="[web]")
    assert played.run([package("a", tasks=tasks)]).status.value == "completed"
    assert played.tasks == ["a#2"]


def test_f30_f33_a_failed_task_ends_the_execution_and_a_retry_goes_on_at_it() -> None:
    played = Played(APPLICATION, **{"web_1.a#2": fails("exit code 3")})
    row = played.run([package("a", *[f"{POST}/{number}" for number in (1, 2, 3)])])
    assert (row.status.value, row.reason) == ("failed", "exit code 3")
    assert "a#3" not in played.tasks
    again = played.retry(row)
    assert again.status.value == "completed"
    assert played.calls == ["a#2 web_1", "a#3 db_1", "a#3 web_1", "a#3 web_2"]


def test_f31_a_task_that_may_fail_does_not_keep_the_next_one() -> None:
    played = Played(APPLICATION, **{"a#1": fails()})
    tasks = stage_task(f"{POST}/1", fail_on_error=False) + stage_task(f"{POST}/2")
    assert played.run([package("a", tasks=tasks)]).status.value == "completed"
    assert played.tasks == ["a#1", "a#2"]


@pytest.mark.parametrize("crash", range(1, 13))
def test_f34_after_a_crash_what_is_done_is_not_repeated_and_the_order_is_the_same(crash: int) -> None:
    again = {"retries": 1}
    tasks = stage_task(f"{PRE}/2", parameters=again) + stage_task(f"{POST}/1", parameters=again)
    packages = [package("a", tasks=tasks), package("b", tasks=stage_task(f"{PRE}/1", parameters=again))]
    played = Played(APPLICATION)
    assert played.run(packages, crash_in=[crash]).status.value == "completed"
    assert played.stage.crashes == 1
    calls = zip(played.calls, played.script.calls, strict=True)
    done = [name for name, call in calls if "died" not in call.outcomes]
    assert len(done) == len(set(done)) == 12
    assert played.tasks == ["b#1", "a#1", "a#2"]


def test_f34_a_task_that_must_not_be_tried_again_waits_for_a_person_after_a_crash() -> None:
    played = Played(APPLICATION)
    row = played.run([package("a", tasks=stage_task(POST, role="[db]"))], crash_in=[4])
    assert row.status.value == "attention"


def test_f35_only_packages_that_are_enabled_here_are_in_the_list() -> None:
    here, elsewhere = package("a", POST), package("b", POST)
    played = Played(APPLICATION)
    played.run([here])
    assert played.tasks == ["a#1"]
    assert [task.origin.plugin for task in stages_of([here, elsewhere])] == ["a", "b"]


def test_tasks_of_another_workflow_are_not_in_the_list() -> None:
    tasks = granular_task("a")
    assert len(stages_of([package("p", POST, granular=tasks)], "heal")) == 2
    assert not stages_of([package("p", POST, granular=tasks)], "uninstall").tasks


@pytest.mark.alone
def test_f47_ten_thousand_tasks_are_put_in_order_in_100_ms() -> None:
    packages = stage_packages()
    assert min(order_ms(packages) for _ in range(3)) <= MOST_ORDER_MS


@pytest.mark.alone
def test_f47_the_graph_of_ten_thousand_tasks_on_instances_is_laid_in_a_second() -> None:
    stages, application = stages_of(granular_packages(10, 10)), blueprint(node("web", instances=100))
    assert min(graph_ms(stages, application, 10_000) for _ in range(2)) <= MOST_GRAPH_MS
