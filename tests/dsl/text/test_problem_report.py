"""Reports: how much is searched for what was meant."""

from phaseline.dsl.text.problem_report import SEARCHED, ProblemReport


def test_names_are_searched_for_what_was_meant_only_so_often() -> None:
    report = ProblemReport()
    assert report.suggest("wbe", ["web", "db"], "Nothing is near.") == "did you mean 'web'?"
    report.suggest("wbe", [f"node{number}" for number in range(SEARCHED)], "Nothing is near.")
    assert report.suggest("wbe", ["web", "db"], "Nothing is near.") == "Nothing is near."
