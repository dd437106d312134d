"""What ``cnxt`` knows, and what a class may not do with it."""

import pytest

from phaseline.hooks.hook_context import MOST_WARNINGS, ExecutionFacts, HookCall, HookContext
from phaseline.hooks.read_only_views import ReadOnlyError, path_text
from phaseline.model.graph.status import OutcomeKind

TOLD = ExecutionFacts(
    "install-7", "install", "ROLLBACK", {"force": [1]}, "ann", "acme", "shop",
    decisions={"web_1": {"rack": "r1", "row": 1}}, rollback_of="UPDATE", depth=1, parent_execution_id="install-6",
)  # fmt: skip


def context(phase="pre", lines=None, **given) -> HookContext:
    lines = [] if lines is None else lines
    return HookContext(
        HookCall("quota", phase), TOLD, ids=lambda: {"web_1": 0, "web_2": 1}, labels=lambda: {"team": ("web",)},
        log=lambda level, text: lines.append((level, text)), digest=lambda: "3f9a", **given,
    )  # fmt: skip


def test_it_knows_the_execution():
    cnxt = context()
    assert (cnxt.execution_id, cnxt.workflow, cnxt.action, cnxt.rollback_of) == (
        "install-7", "install", "ROLLBACK", "UPDATE",
    )  # fmt: skip
    assert (cnxt.user, cnxt.tenant, cnxt.deployment_id, cnxt.auth_token) == ("ann", "acme", "shop", None)
    assert (cnxt.depth, cnxt.parent_execution_id, cnxt.labels, cnxt.plan) == (
        1,
        "install-6",
        {"team": ("web",)},
        "3f9a",
    )
    assert (cnxt.hook.name, cnxt.hook.phase, cnxt.hook.reason, cnxt.hook.attempt) == ("quota", "pre", "before", 0)
    assert (list(cnxt.approvals), list(cnxt.usage("team", "web"))) == ([], [])


def test_what_it_shows_is_only_read():
    cnxt = context()
    for write in (
        lambda: cnxt.parameters["force"].append(2),
        lambda: cnxt.decisions["web_1"].update(rack="r2"),
        cnxt.decisions.clear,
    ):
        with pytest.raises(ReadOnlyError):
            write()
    assert TOLD.parameters == {"force": [1]}


def test_decisions_are_laid_over_those_before_name_by_name():
    cnxt = context()
    cnxt.decide("web_1", {"rack": "r2"})
    cnxt.decide("web_1", {"shelf": 3})
    cnxt.decide("web_2", {"rack": "r1"})
    assert cnxt.decisions == {"web_1": {"rack": "r2", "row": 1, "shelf": 3}, "web_2": {"rack": "r1"}}
    assert cnxt.outcome().result == {"decisions": {"web_1": {"rack": "r2", "shelf": 3}, "web_2": {"rack": "r1"}}}


def test_what_cannot_be_decided_is_said():
    with pytest.raises(ValueError, match="no instance 'db_1'"):
        context().decide("db_1", {})
    with pytest.raises(TypeError, match="cannot be stored"):
        context().decide("web_1", {"lock": object()})
    with pytest.raises(ValueError, match="not in post"):
        context("post").decide("web_1", {})


def test_warnings_are_kept_up_to_a_number_and_all_are_logged():
    lines: list[tuple[str, str]] = []
    cnxt = context(lines=lines)
    for number in range(MOST_WARNINGS + 1):
        cnxt.warn(f"{number}")
    assert len(cnxt.warnings) == MOST_WARNINGS
    assert len(lines) == MOST_WARNINGS + 1


def test_asking_to_be_called_again_keeps_the_data_and_is_no_agreement():
    cnxt = context(data={"tried": 1})
    cnxt.data["tried"] += 1
    cnxt.again(2.5, "waits")
    outcome = cnxt.outcome()
    assert (outcome.kind, outcome.delay_ms, outcome.message) == (OutcomeKind.AGAIN, 2_500, "waits")
    assert cnxt.data == {"tried": 2}


def test_h49_a_state_that_is_no_failure_is_only_noted():
    lines: list[tuple[str, str]] = []
    cnxt = context(lines=lines)
    cnxt.say_state("CREATE", "COMPLETE", "all well")
    assert cnxt.outcome().kind is OutcomeKind.COMPLETED
    assert lines == [("info", "state set to CREATE_COMPLETE: all well")]
    cnxt.say_state("CREATE", "FAILED", "")
    assert (cnxt.outcome().kind, cnxt.outcome().message) == (OutcomeKind.FAILED, "CREATE was set to FAILED")


def test_a_secret_that_is_not_there_is_a_key_error():
    with pytest.raises(KeyError):
        context().secret("key")
    assert context(secret={"key": "hush"}.__getitem__).secret("key") == "hush"


def test_a_way_is_told_as_it_would_be_typed():
    assert path_text((("cnxt.parameters", "force"), 0)) == "cnxt.parameters['force'][0]"
