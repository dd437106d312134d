"""A pair of files becomes a definition; everything that is wrong with it is told at once, with its place."""

from pathlib import Path

import pytest
from tests.catalog.phases.plugin_files import read_phase, read_plugin, write_pair

from phaseline.model.phases.definitions import Attributes, PhasePolicy


def test_p1_a_pair_makes_a_phase(tmp_path: Path) -> None:
    phase = read_phase(tmp_path, {"Phase.Description": "Creating instances, one by one", "ForProvider": "AWS"})
    assert (phase.name, phase.plugin, phase.states, phase.resource_types) == (
        "Acme.Create",
        "create",
        ("Allocation",),
        ("Cloud.Node",),
    )
    assert phase.description == "Creating instances, one by one"
    assert phase.providers == ("AWS",)
    assert phase.code is not None
    assert (str(phase.code), phase.code.form, phase.code.is_async) == ("create:handle", "handle", False)
    assert str(phase.where) == f"{tmp_path}/create.cfg:3:1"


def test_p2_handles_provider_means_the_same(tmp_path: Path) -> None:
    old = read_phase(tmp_path, {"ForProvider": "AWS, Azure"})
    assert read_phase(tmp_path, {"HandlesProvider": "AWS, Azure"}) == old


def test_p3_two_different_providers_are_refused(tmp_path: Path) -> None:
    plugin = read_plugin(tmp_path, {"ForProvider": "AWS", "HandlesProvider": "Azure"})
    [problem] = plugin.errors
    assert problem.code == "PL-D014"
    assert "AWS" in problem.message
    assert "Azure" in problem.message
    assert problem.place.text.startswith("ForProvider")


def test_p3_the_same_provider_twice_is_no_mistake(tmp_path: Path) -> None:
    assert read_phase(tmp_path, {"ForProvider": "aws", "HandlesProvider": "AWS"}).providers == ("AWS",)


def test_p4_the_old_spelling_is_understood(tmp_path: Path) -> None:
    assert read_phase(tmp_path, {"Phase_Description": "Creating"}).description == "Creating"


def test_p4_both_spellings_are_a_warning_or_an_error(tmp_path: Path) -> None:
    same = read_plugin(tmp_path, {"Phase.Color": "red", "Phase_Color": "red"})
    assert [(problem.code, problem.severity) for problem in same.problems] == [("PL-D014", "warning")]
    other = read_plugin(tmp_path, {"Phase.Color": "red", "Phase_Color": "blue"})
    assert [(problem.code, problem.severity) for problem in other.problems] == [("PL-D014", "error")]


def test_p5_any_attribute_of_a_phase_is_kept(tmp_path: Path) -> None:
    phase = read_phase(tmp_path, {"Phase.Color": "blue", "Phase.Shape.Sides": "3", "Phase.Best": ":= Sides > 2"})
    assert phase.attributes["color"] == "blue"
    assert phase.attributes["Shape"] == {"Sides": 3}
    assert phase.attributes["Best"] == {"$expr": "Sides > 2"}


def test_p6_without_states_it_is_no_phase(tmp_path: Path) -> None:
    plugin = read_plugin(tmp_path, {"HandlesStates": None}, code="X = 1\n")
    assert (plugin.phase, plugin.kind, plugin.problems) == (None, "code", ())


def test_a_phase_that_is_never_called_is_told(tmp_path: Path) -> None:
    plugin = read_plugin(tmp_path, {"HandlesStates": None})
    assert [problem.code for problem in plugin.problems] == ["PL-D041"]


def test_p7_a_phase_of_two_states(tmp_path: Path) -> None:
    assert read_phase(tmp_path, {"HandlesStates": "Allocation, Configuration"}).states == (
        "Allocation",
        "Configuration",
    )


def test_p8_a_phase_of_two_types(tmp_path: Path) -> None:
    assert read_phase(tmp_path, {"ResourceType": "Cloud.Node, Cloud.Disk"}).resource_types == (
        "Cloud.Node",
        "Cloud.Disk",
    )


def test_p12_three_ways_to_write_a_constraint(tmp_path: Path) -> None:
    texts = (":= FixedPublicIp isnt undefined", ": =FixedPublicIp isnt undefined", "= =FixedPublicIp isnt undefined")
    first, second, third = (read_phase(tmp_path, {"ResourceConstraint": text}) for text in texts)
    assert first == second == third
    assert first.constraint == "FixedPublicIp isnt undefined"
    assert first.constraint_names == {"fixedpublicip"}


def test_p13_a_constraint_that_is_text_is_refused_with_the_right_form(tmp_path: Path) -> None:
    plugin = read_plugin(tmp_path, {"ResourceConstraint": "FixedPublicIp isnt undefined"})
    [problem] = plugin.errors
    assert problem.code == "PL-D013"
    assert "text" in problem.message
    assert problem.mend == "write ResourceConstraint := FixedPublicIp isnt undefined"
    assert (problem.place.line, problem.place.column) == (4, 1)


def test_a_constraint_may_be_a_plain_truth_value(tmp_path: Path) -> None:
    assert read_phase(tmp_path, {"ResourceConstraint": "true"}).constraint == "true"


def test_a_constraint_that_cannot_be_read_has_its_place_and_the_phase_stays_known(tmp_path: Path) -> None:
    plugin = read_plugin(tmp_path, {"ResourceConstraint": ":= Cores > "})
    [problem] = plugin.errors
    assert problem.code.startswith("PL-R")
    assert problem.place.file.endswith("create.cfg")
    assert problem.place.line == 4
    assert plugin.phase is not None


def test_pd41_an_unknown_function_in_a_constraint_is_refused(tmp_path: Path) -> None:
    [problem] = read_plugin(tmp_path, {"ResourceConstraint": ":= strcta(Name)"}).errors
    assert problem.code == "PL-R006"


def test_p101_the_provider_none_means_every(tmp_path: Path) -> None:
    assert read_phase(tmp_path, {"HandlesProvider": "none"}) == read_phase(tmp_path)
    assert read_phase(tmp_path, {"HandlesProvider": "None"}).providers == ()


def test_p83_a_function_for_states_without_the_attribute_is_no_listener(tmp_path: Path) -> None:
    code = "def handle(handler): ...\ndef onStateTransition(event): ...\n"
    plugin = read_plugin(tmp_path, {"ResourceStates": "Started"}, code)
    assert plugin.listener is None
    [problem] = plugin.problems
    assert (problem.code, problem.severity) == ("PL-D041", "warning")
    assert "ResourceStateListener" in problem.message


@pytest.mark.parametrize("given", [{"PhaseName": None}, {"HandlesStates": '"Allocation'}])
def test_what_is_said_wrongly_is_not_told_as_missing(tmp_path: Path, given: dict[str, str | None]) -> None:
    plugin = read_plugin(tmp_path, given)
    assert plugin.errors
    assert "PL-D041" not in {problem.code for problem in plugin.problems}


def test_a_listener_that_says_yes_is_not_told_that_it_says_nothing(tmp_path: Path) -> None:
    plugin = read_plugin(tmp_path, {"ResourceStateListener": "yes"}, "def onStateTransition(event): ...\n")
    assert [problem.code for problem in plugin.problems if problem.code == "PL-D041"] == []


def test_a_listener(tmp_path: Path) -> None:
    given = {
        "HandlesStates": None,
        "PhaseName": None,
        "ResourceType": None,
        "ResourceStateListener": "true",
        "ResourceStates": "Started, Terminated",
        "ResourceTypes": "Cloud.Node",
    }
    plugin = read_plugin(tmp_path, given, "def onStateTransition(event): ...\n")
    assert plugin.problems == ()
    assert plugin.kind == "listener"
    assert plugin.listener is not None
    assert plugin.listener.states == ("Started", "Terminated")
    assert str(plugin.listener.code) == "create:onStateTransition"


def test_a_listener_of_everything_is_warned_about(tmp_path: Path) -> None:
    given = {"HandlesStates": None, "PhaseName": None, "ResourceType": None, "ResourceStateListener": "true"}
    plugin = read_plugin(tmp_path, given, "async def onStateTransition(event): ...\n")
    assert [(problem.code, problem.severity) for problem in plugin.problems] == [("PL-D040", "warning")] * 2
    assert plugin.code is not None
    assert plugin.code.is_async


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    given = {"ResourceType": None, "PhaseName": None, "Phase.SleepDelay": "0", "Disabled": "perhaps"}
    plugin = read_plugin(tmp_path, given, "def handlee(handler): ...\n")
    assert sorted(problem.code for problem in plugin.errors) == ["PL-D004", "PL-D010", "PL-D011", "PL-D012", "PL-D012"]


def test_a_missing_function_gets_a_hint(tmp_path: Path) -> None:
    [problem] = read_plugin(tmp_path, code="def handlee(handler): ...\n").errors
    assert problem.mend.startswith("did you mean 'handlee'?")


@pytest.mark.parametrize(
    ("code", "form", "is_async"),
    [
        ("async def handle(handler): ...\n", "handle", True),
        ("def handle_one(resource, data): ...\n", "handle_one", False),
        ("from elsewhere_in_json import *\n", "handle", False),
        ("from json import dumps as handle\n", "handle", False),
    ],
)
def test_forms_of_functions(tmp_path: Path, code: str, form: str, is_async: bool) -> None:
    plugin = read_plugin(tmp_path, code=code)
    assert plugin.code is not None
    assert (plugin.code.form, plugin.code.is_async) == (form, is_async)
    assert not [problem for problem in plugin.errors if problem.code == "PL-D004"]


@pytest.mark.parametrize("code", ["def handle(): ...\n", "def handle(a, b, c): ...\n"])
def test_a_function_with_the_wrong_number_of_arguments(tmp_path: Path, code: str) -> None:
    assert [problem.code for problem in read_plugin(tmp_path, code=code).errors] == ["PL-D004"]


def test_how_a_phase_wants_to_be_called(tmp_path: Path) -> None:
    given = {
        "Phase.SleepDelay": "2",
        "phase.maxbatch": "50",
        "Phase.MaxConcurrency": "4",
        "Phase.MinInterval": "0.5",
        "Phase.BatchKey": ":= Region",
        "Phase.OverdueAfter": "90",
        "Phase.RunTimeout": "600",
        "Phase.RetryLimit": "5",
        "Phase.OnBatchFailure": "bisect",
        "Phase.RetryClears": "true",
        "Phase.Priority": "3",
    }
    assert read_phase(tmp_path, given).policy == PhasePolicy(
        sleep_delay_s=2.0,
        max_batch=50,
        max_concurrency=4,
        min_interval_s=0.5,
        batch_key="Region",
        overdue_after_s=90.0,
        run_timeout_s=600.0,
        retry_limit=5,
        on_batch_failure="bisect",
        retry_clears=True,
        priority=3.0,
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SleepDelay", "0"),
        ("SleepDelay", "soon"),
        ("SleepDelay", "99999999"),
        ("MaxBatch", "0"),
        ("MaxBatch", "1.5"),
        ("MaxConcurrency", "true"),
        ("RetryLimit", "-2"),
        ("BackoffFactor", "0.5"),
        ("BackoffJitter", "2"),
        ("OnBatchFailure", "explode"),
        ("RetryClears", "1"),
        ("BatchKey", "Region"),
        ("Priority", "urgent"),
        ("Dependencies", "1, 2"),
    ],
)
def test_a_value_of_the_wrong_kind(tmp_path: Path, name: str, value: str) -> None:
    [problem] = read_plugin(tmp_path, {f"Phase.{name}": value}).errors
    assert problem.code == "PL-D012"
    assert problem.place.line == 4


def test_an_attribute_that_has_no_effect_yet_is_told(tmp_path: Path) -> None:
    [problem] = read_plugin(tmp_path, {"Phase.Timeout": "60"}).problems
    assert (problem.code, problem.severity, problem.place.line) == ("PL-D019", "warning", 4)


@pytest.mark.parametrize(
    ("name", "meant"), [("HandleStates", "HandlesStates"), ("Phase.SleepDely", "Phase.SleepDelay")]
)
def test_a_likely_misspelling_is_a_warning(tmp_path: Path, name: str, meant: str) -> None:
    plugin = read_plugin(tmp_path, {name: "5"})
    [problem] = plugin.problems
    assert (problem.code, problem.severity) == ("PL-D015", "warning")
    assert meant in problem.mend


def test_attributes_of_its_own_are_kept_whatever_the_case(tmp_path: Path) -> None:
    plugin = read_plugin(tmp_path, {"Owner": "ann", "Source.Host": "h", "Version": "1.5", "Dependencies": "acme.lib"})
    assert plugin.attributes == Attributes({"owner": "ann", "SOURCE": {"Host": "h"}})
    assert list(plugin.attributes) == ["Owner", "Source"]
    assert (plugin.version, plugin.imports, plugin.problems) == ("1.5", ("acme.lib",), ())


def test_the_definition_may_name_the_plugin(tmp_path: Path) -> None:
    assert read_phase(tmp_path, {"Name": "acme.maker"}).plugin == "acme.maker"


def test_the_phase_must_be_a_record(tmp_path: Path) -> None:
    assert [problem.code for problem in read_plugin(tmp_path, {"Phase": "x"}).errors] == ["PL-D012"]


def test_a_definition_without_code(tmp_path: Path) -> None:
    file = write_pair(tmp_path, "create", code=None)
    [problem] = read_plugin(tmp_path, code=None).errors
    assert (problem.code, problem.place.file) == ("PL-D001", str(file))


def test_names_that_would_steer_a_terminal_are_refused(tmp_path: Path) -> None:
    plugin = read_plugin(tmp_path, {"PhaseName": "\x1b[31mred", "ResourceType": '"a\\tb"'})
    assert sorted(problem.code for problem in plugin.errors) == ["PL-D010", "PL-D012", "PL-D012"]
    assert not any("\x1b" in problem.message for problem in plugin.errors)


def test_a_disabled_plugin_is_warned_about_and_refuses_nothing(tmp_path: Path) -> None:
    plugin = read_plugin(tmp_path, {"ResourceConstraint": "text", "Disabled": "true"})
    assert plugin.is_disabled
    assert [(problem.code, problem.severity) for problem in plugin.problems] == [("PL-D013", "warning")]


@pytest.mark.parametrize("attribute", ["PhaseName", "HandlesStates", "ResourceType"])
@pytest.mark.parametrize("name", ["a/b", "x" * 256, "a\u202eb"])
def test_decision_33_a_name_that_may_do_harm_is_refused(tmp_path: Path, attribute: str, name: str) -> None:
    problem, *_ = read_plugin(tmp_path, {attribute: f'"{name}"'}).errors
    assert problem.code == "PL-D012"
    assert problem.place.line
    assert problem.message.isprintable()
