"""A package that was looked at when it was installed is read again without anybody who evaluates YAQL or slow patterns."""

from types import MappingProxyType

import pytest
from tests.packages.made import GRANULAR, files

from phaseline.model.packages.package import Package
from phaseline.model.problems.problem import ProblemsError
from phaseline.packages.format.settings_values import chosen
from phaseline.packages.languages.installed_languages import LOOKED_AT
from phaseline.packages.reader import read_package
from phaseline.packages.task_yaql import YaqlOfTasks

TASK = GRANULAR + "  condition: {yaql_exp: '$.lma.a'}\n  requires: {yaql_exp: '$.names'}\n"
FORM = "attributes:\n  a: {type: text, label: A, weight: 1, value: x, regex: {source: '^(x)\\1', error: An x}}\n"


def stored() -> Package:
    read = read_package(files(5, deployment_tasks=TASK, environment_config=FORM), "lma-1.0.2", LOOKED_AT)
    assert read.package is not None, read.problems
    return read.package


class Enabled:
    """A package as a deployment has it."""

    package = stored()
    settings = MappingProxyType({"a": "x"})


def test_its_yaql_and_its_patterns_are_taken_as_they_are() -> None:
    (task,) = stored().granular_tasks
    assert task.yaql["condition"] == "$.lma.a"


def test_its_yaql_is_not_evaluated() -> None:
    (task,) = stored().granular_tasks
    with pytest.raises(ProblemsError) as refused:
        YaqlOfTasks(LOOKED_AT, [Enabled()], {}, {}).false_on(task)
    assert [problem.code for problem in refused.value.problems] == ["PL-F018"]


def test_a_value_that_nobody_can_match_with_its_pattern_is_not_suitable() -> None:
    found = chosen("lma-1.0.2", stored().form, {"a": "xy"}, slow=LOOKED_AT)
    assert [problem.code for problem in found.problems] == ["PL-F032"]


def test_without_an_evaluator_conditions_are_true_and_dependencies_none() -> None:
    (task,) = stored().granular_tasks
    yaql = YaqlOfTasks(None, [Enabled()], {}, {"web": ["web"]})
    assert (yaql.false_on(task), yaql.dependencies(task, "requires")) == ((), ())
