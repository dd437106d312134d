"""DP11: dependencies as tables and as trees."""

from phaseline.cli.render.estates import dependencies_text
from phaseline.use_cases.queries.estate.dependencies import DependenciesView, DependencyBranch, DependencyView


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
