"""Conditions and dependencies in YAQL, from the file to the calls (spec of packages, section 7)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.acceptance.source4_packages import Enabled, Played, granular_task
from tests.packages.made import files

from phaseline.compat.fuel.judge import YaqlJudge
from phaseline.model.execution.execution import Request
from phaseline.model.execution.pre_post import PrePost
from phaseline.model.packages.package import Package
from phaseline.model.packages.stage_tasks import Stages, from_json, to_json
from phaseline.model.problems.problem import ProblemsError
from phaseline.packages.format.condition_language import holds
from phaseline.packages.format.settings_values import chosen
from phaseline.packages.reader import read_package
from phaseline.packages.task_serializer import SerializerInput, serialized
from phaseline.plan.stages.task_listing import task_rows
from phaseline.testing.builders import blueprint, node

ROLES = {"db": ["db"], "web": ["web", "front"]}
FORM = "attributes: {a: {type: checkbox, label: l, weight: 1, value: true}}"


@pytest.fixture(scope="module")
def judge() -> Iterator[YaqlJudge]:
    with YaqlJudge() as found:
        yield found


def read(judge: YaqlJudge | None, *tasks: str) -> Package:
    found = read_package(files(4, deployment_tasks="".join(tasks), environment_config=FORM), slow=judge)
    if found.package is None:
        raise ProblemsError(found.problems)
    return found.package


def stages(judge: YaqlJudge | None, package: Package, **settings: bool) -> Stages:
    enabled = [Enabled(package, chosen("lma-1.0.2", package.form, settings).values)]
    return serialized(
        enabled, SerializerInput("install", holds, {"os": "ubuntu"}, slow=judge, roles=ROLES if judge else {})
    )


def played(found: Stages) -> list[str]:
    """The calls of an install with these tasks, as ``task node``."""
    one = Played(blueprint(node("db", create="cloud.make"), node("web", create="cloud.make", instances=2)))
    row = one.stage.play(Request("install", is_surrounded=True), one.script, PrePost(stages=from_json(to_json(found))))
    assert row.status.value == "completed"
    names = {id: one.now.nodes[one.now.node[at]].name for at, id in enumerate(one.now.ids)}
    return [f"{call.operation} {names[call.instances[0]]}" for call in one.script.calls if "/" in call.operation]


def test_a_condition_in_yaql_is_asked_of_each_node_and_its_task_keeps_the_order(judge: YaqlJudge) -> None:
    package = read(
        judge,
        granular_task("first"),
        granular_task("front", requires=["first"], condition={"yaql_exp": "'front' in $.roles and $.lma.a"}),
        granular_task("last", requires=["front"]),
    )
    found = stages(judge, package)
    calls = played(found)
    assert sorted(calls) == sorted(
        [f"lma/{id} {who}" for id in ("first", "last") for who in ("db", "web", "web")] + ["lma/front web"] * 2
    )
    of_web = [call.split()[0] for call in calls if call.endswith("web")]
    assert of_web.index("lma/first") < of_web.index("lma/front") < of_web.index("lma/last")
    one = Played(blueprint(node("db"), node("web", instances=2)))
    assert {row.task: row.instances for row in task_rows(found, one.topology)} == {
        "lma/first": 3,
        "lma/front": 2,
        "lma/last": 3,
    }


@pytest.mark.parametrize(("a", "skipped"), [(True, ""), (False, "its condition is false")])
def test_settings_and_labels_of_the_deployment_are_known_to_yaql(judge: YaqlJudge, a: bool, skipped: str) -> None:
    package = read(
        judge, granular_task("x", condition={"yaql_exp": "$.lma.a and $.os = ubuntu and $.lma.metadata.enabled"})
    )
    assert [task.skipped for task in stages(judge, package, a=a)] == [skipped]


def test_dependencies_in_yaql_are_ids_and_relations(judge: YaqlJudge) -> None:
    package = read(
        judge,
        granular_task("z", role="db"),
        granular_task("y", role="web", cross_depends={"yaql_exp": "[{name => z, role => db}]"}),
        granular_task("x", role="web", requires={"yaql_exp": "[y].where($ != '')"}),
    )
    assert played(stages(judge, package)) == ["lma/z db", *["lma/y web"] * 2, *["lma/x web"] * 2]


def test_an_answer_that_is_no_dependency_is_refused_before_anything_runs(judge: YaqlJudge) -> None:
    package = read(judge, granular_task("x", requires={"yaql_exp": "5"}))
    with pytest.raises(ProblemsError, match="PL-F004"):
        stages(judge, package)
    package = read(judge, granular_task("x", condition={"yaql_exp": "nobody($.x)"}))
    with pytest.raises(ProblemsError, match=r"PL-F018 .*cannot be evaluated"):
        stages(judge, package)


def test_yaql_that_cannot_be_read_is_refused_with_the_file_and_without_anybody_to_read_it_too(judge: YaqlJudge) -> None:
    wrong = granular_task("x", condition={"yaql_exp": "1 +"})
    with pytest.raises(ProblemsError, match=r"PL-F018 .*unexpected end of statement"):
        read(judge, wrong)
    with pytest.raises(ProblemsError, match=r"PL-F018 .*YAQL is not evaluated here"):
        read(None, granular_task("x", condition={"yaql_exp": "true"}))
    with pytest.raises(ProblemsError, match=r"PL-F018 .*only in conditions and dependencies"):
        read(judge, granular_task("x", role={"yaql_exp": "[web]"}))


def test_where_nobody_evaluates_what_was_installed_conditions_in_yaql_are_taken_for_true(judge: YaqlJudge) -> None:
    package = read(judge, granular_task("x", condition={"yaql_exp": "false"}))
    assert [task.skipped for task in stages(None, package)] == [""]


def test_a_form_with_look_ahead_is_taken_and_its_values_are_matched(judge: YaqlJudge) -> None:
    form = "attributes: {a: {type: text, label: l, weight: 1, value: x, regex: {source: '^((?!root$)\\S)', error: not root}}}"
    content = files(4, deployment_tasks="[]", environment_config=form)
    assert [problem.code for problem in read_package(content).problems] == ["PL-F012"]
    package = read_package(content, slow=judge).package
    assert package is not None
    assert chosen("lma", package.form, {"a": "ann"}, slow=judge).problems == ()
    (problem,) = chosen("lma", package.form, {"a": "root"}, slow=judge).problems
    assert (problem.code, problem.mend) == ("PL-F032", "not root")
