"""Trees of deployments as text."""

from __future__ import annotations

from phaseline.cli.render.estate import drift_text, tree_text
from phaseline.use_cases.queries.estate.drift import DriftView
from phaseline.views.views import DeploymentView


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
