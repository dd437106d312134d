"""DP11: dependencies as tables and as trees."""

from phaseline.cli.render.estates import dependencies_text, drift_text, tree_text
from phaseline.use_cases.queries.estate.dependencies import DependenciesView, DependencyBranch, DependencyView
from phaseline.use_cases.queries.estate.drift import DriftView
from phaseline.views.views import DeploymentView


def test_dp11_unknown_and_missing_providers_are_marked() -> None:
    rows = [
        DependencyView("app", "", "capability", "web.ip", "nodes.web.properties.ip", "{}"),
        DependencyView("app", "net", "capability", "web.ip", "nodes.web.properties.ip", "{}", is_missing=True),
    ]
    text = dependencies_text(DependenciesView("app", of=rows))
    assert text.startswith("'app' reads:\n")
    assert "(known when it is read)" in text
    assert "net (missing)" in text


def test_dp11_a_tree_is_indented_and_shows_a_branch_once() -> None:
    branches = [
        DependencyBranch("app", 1, "plain", ["web.ip"]),
        DependencyBranch("net", 2, "plain", ["app.ip", "app.x"], is_again=True),
    ]
    text = dependencies_text(DependenciesView("shop", of=[DependencyView("", "", "", "", "")], providers=branches))
    assert text.splitlines()[1:] == ["  app: plain (web.ip)", "    net: plain (app.ip, app.x, shown above)"]


def test_dp11_nothing_is_told_as_such() -> None:
    text = dependencies_text(DependenciesView("app", of=[], on=[]))
    assert text.splitlines() == ["'app' reads no other deployment", "no other deployment reads 'app'"]


def view(name: str, *parents: str) -> DeploymentView:
    return DeploymentView(name, "good", "", "", 0, "ann", 0, deployment_status="good", parents=parents)


def first_words(text: str) -> list[str]:
    return [line[: len(line) - len(line.lstrip())] + line.split()[0] for line in text.splitlines()[1:]]


def test_lb10_each_deployment_stands_once_below_one_to_which_it_belongs() -> None:
    views = [view("c", "b", "a"), view("b", "a"), view("a"), view("d", "not shown")]
    assert first_words(tree_text(views)) == ["a", "  b", "    c", "d"]


def test_lb10_a_circle_that_was_stored_before_is_shown_too() -> None:
    assert sorted(first_words(tree_text([view("a", "b"), view("b", "a")]))) == ["a", "b"]


def test_lb9_instances_that_drifted_are_named_and_those_left_out_told() -> None:
    text = drift_text([DriftView("shop", 3, 2, 1, 0, ["web_1"], ["db_1"])])
    assert text.splitlines()[2:] == ["shop: drifted web_1 …", "shop: unavailable db_1"]
