"""B25-B27: labels, settings and tags of a deployment."""

import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast
from zoneinfo import ZoneInfo

import pytest
from tests.dsl.readers import codes, numbers, problems, read

from phaseline.dsl.deployment.evaluate_blueprint import with_inputs
from phaseline.dsl.documents.json_codec import blueprint_from_json, blueprint_to_json
from phaseline.dsl.nodes.schedules import begun, later, unknown_zone
from phaseline.dsl.text.problem_report import ProblemReport
from phaseline.model.blueprint.blueprint import Value

INPUTS = "inputs: {team: {default: web}}\nnode_templates: {net: {type: cloudify.nodes.Root}}\n"


def test_b25_labels_are_texts_or_functions_that_need_nothing_running() -> None:
    found = read(f"{INPUTS}labels: {{team: {{values: [a, {{get_input: team}}, {{get_secret: x}}]}}}}")
    assert found.labels == {"team": ["a", {"get_input": "team"}, {"get_secret": "x"}]}
    assert with_inputs(found, {"team": "ops"}).labels == {"team": ["a", "ops", {"get_secret": "x"}]}
    assert not found.warnings


@pytest.mark.parametrize(
    "value",
    ["5", "true", "[a]", "{a: b}", "null", "{get_attribute: [net, a]}", "{concat: [{get_attribute: [net, a]}]}"],
)
def test_b25_other_values_of_labels_are_told(value: str) -> None:
    (found,) = problems(f"{INPUTS}labels: {{team: {{values: [{value}]}}}}")
    assert (found.code, found.cloudify_code, found.cloudify_class) == ("PL-B158", 1, "DSLParsingException")


@pytest.mark.parametrize("value", ["5", "{get_input: team}", "{get_secret: x}"])
def test_b25_labels_of_a_blueprint_are_texts(value: str) -> None:
    assert numbers(f"{INPUTS}blueprint_labels: {{team: {{values: [{value}]}}}}") == [1]
    assert read(f"{INPUTS}blueprint_labels: {{team: {{values: [a, b]}}}}").blueprint_labels == {"team": ["a", "b"]}


def test_b25_labels_have_values() -> None:
    assert codes(f"{INPUTS}labels: {{team: {{}}}}") == ["PL-B016"]
    assert codes(f"{INPUTS}labels: {{team: web}}") == ["PL-B015"]


def test_b25_functions_in_labels_are_checked() -> None:
    assert codes(f"{INPUTS}labels: {{team: {{values: [{{get_input: tem}}]}}}}") == ["PL-B071"]


def schedule(fields: str) -> str:
    return f"{INPUTS}deployment_settings: {{default_schedules: {{nightly: {{{fields}}}}}}}"


FULL = """workflow: install, since: '2026-1-1 7:00', until: '+2 weeks', recurrence: 1mo, timezone: Europe/Paris,
  weekdays: [mo, 1TU, l-fr], count: 3, default_enabled: true, stop_after_fail: false, slip: 5,
  execution_arguments: {force: false, is_dry_run: false, wait_after_fail: 10, allow_custom_parameters: true},
  workflow_parameters: {a: {get_input: team}}"""


def test_b26_schedules_are_read() -> None:
    found = read(schedule(FULL))
    assert [warning.code for warning in found.warnings] == []
    schedules = found.deployment_settings["default_schedules"]
    assert isinstance(schedules, dict)
    assert list(schedules) == ["nightly"]


def times(fields: str) -> Mapping[str, Value]:
    (found,) = cast(
        "Mapping[str, dict[str, Value]]", read(schedule(fields)).deployment_settings["default_schedules"]
    ).values()
    return found


def test_sc3_moments_are_kept_with_their_timezone() -> None:
    found = times("workflow: install, since: '2026-1-1 7:00', until: '2026-07-01 7:00', timezone: Europe/Paris")
    assert found == {
        "workflow": "install",
        "since": "2026-01-01 07:00:00",
        "until": "2026-07-01 07:00:00",
        "timezone": "Europe/Paris",
    }
    assert times("workflow: install, since: '2026-01-01 07:00'")["since"] == "2026-01-01 07:00:00"


def test_b26_what_depends_on_the_day_waits_for_the_deployment() -> None:
    found = times("workflow: install, since: '7:00', until: '+2 weeks', timezone: Asia/Tokyo")
    assert (found["since"], found["until"], found["timezone"]) == ("7:00", "+2 weeks", "Asia/Tokyo")


def test_b26_a_deployment_that_is_made_begins_its_schedules() -> None:
    evening = int(datetime(2026, 11, 22, 20, 15, 30, tzinfo=UTC).timestamp() * 1000)
    settings = read(
        schedule(
            "workflow: install, since: '7:00', until: '+1mo +1day+10min', timezone: Asia/Tokyo, recurrence: 1d, count: 3"
        )
    )
    assert begun(settings.deployment_settings, evening) == {
        "default_schedules": {
            "nightly": {
                "workflow": "install",
                "since": "2026-11-23 07:00:00",
                "until": "2026-12-24 05:25:00",
                "timezone": "Asia/Tokyo",
                "recurrence": "1d",
                "said": {"since": "7:00", "until": "+1mo +1day+10min"},
                "count": 3,
                "default_enabled": True,
                "stop_after_fail": False,
                "slip": 0,
                "weekdays": [],
                "execution_arguments": {},
                "workflow_parameters": {},
            }
        }
    }
    assert begun({"display_name": "a"}, evening) == {"display_name": "a"}


@pytest.mark.parametrize(
    ("moment", "text", "expected"),
    [
        ("2026-01-31", "+1 month", "2026-02-28"),
        ("2026-11-30", "+1mo", "2026-12-30"),
        ("2026-12-31", "+2 months", "2027-02-28"),
        ("2028-02-29", "+1y", "2029-02-28"),
        ("2026-01-01", "+2 weeks +3d +24 hours", "2026-01-19"),
    ],
)
def test_b26_spans_follow_the_calendar(moment: str, text: str, expected: str) -> None:
    assert later(datetime.fromisoformat(moment), text).date().isoformat() == expected


def test_b26_parameters_of_a_schedule_are_known_when_the_deployment_is_made() -> None:
    found = with_inputs(read(schedule(FULL)), {"team": "ops"})
    settings = cast("dict[str, dict[str, dict[str, Value]]]", found.deployment_settings)
    assert settings["default_schedules"]["nightly"]["workflow_parameters"] == {"a": "ops"}


def test_b26_a_workflow_that_there_is_not_is_doubted() -> None:
    found = [
        warning for warning in read(schedule("workflow: instal, since: '7:00'")).warnings if warning.code == "PL-B159"
    ]
    assert [warning.mend for warning in found] == ["did you mean 'install'?"]


@pytest.mark.parametrize(
    "time", ["2026-01-01 07:30", "7:30", "23:59:59", "+2 weeks", "+1day+10min", "+1d +10 min", "+1mo"]
)
def test_b26_times_are_at_a_moment_or_from_now_on(time: str) -> None:
    assert codes(schedule(f"workflow: w, since: '{time}', until: '{time}'")) == []


def test_sc3_hours_from_now_are_elapsed_time_and_days_move_the_clock() -> None:
    before_summer_time = datetime(2026, 3, 28, 23, tzinfo=ZoneInfo("Europe/Paris"))
    assert later(before_summer_time, "+12h").isoformat() == "2026-03-29T12:00:00+02:00"
    assert later(before_summer_time, "+1d").isoformat() == "2026-03-29T23:00:00+02:00"


def own(fields: str) -> str:
    """Return a blueprint in the version that knows more forms of schedules."""
    return f"tosca_definitions_version: phaseline_dsl_1_0\nimports: [cloudify/types/types.yaml]\n{schedule(fields)}"


@pytest.mark.parametrize("rule", ["rrule: 'FREQ=MONTHLY;BYDAY=-1FR'", "cron: '30 7 * * 1-5'"])
def test_sc2_rules_of_calendars_and_cron_are_of_our_own_version(rule: str) -> None:
    fields = f"workflow: install, since: '7:30', {rule}"
    assert codes(schedule(fields)) == ["PL-B013"]
    (kept,) = cast("dict[str, dict[str, Value]]", read(own(fields)).deployment_settings["default_schedules"]).values()
    assert kept[rule.partition(":")[0]] == rule.partition("'")[2].removesuffix("'")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("rrule: 'FREQ=DAILY', recurrence: 1d", "'rrule' and 'recurrence' exclude each other"),
        ("rrule: 'FREQ=DAILY', count: 3", "'rrule' and 'count' exclude each other"),
        ("rrule: 'FREQ=DAILY', cron: '* * * * *'", "'rrule' and 'cron' exclude each other"),
        ("rrule: 'FREQ=DAILY;COUNT=0'", "COUNT '0' is no number from 1"),
        ("rrule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30'", "no month has such a day, so the rule never occurs"),
        ("cron: '0 0 30 2 *'", "no month has such a day, so the rule never occurs"),
        ('rrule: "DTSTART;TZID=Mars/Base:20260101T000000\\nRRULE:FREQ=DAILY"', "'Mars/Base' is no timezone"),
        (
            'timezone: Asia/Tokyo, rrule: "DTSTART:20260101T000000Z\\nRRULE:FREQ=DAILY"',
            "the rule is in the zone 'UTC', the schedule is not",
        ),
        ("recurrence: 1d, timezone: Mars/Base", "'Mars/Base' is no timezone"),
        ("recurrence: 2 fortnights", "'2 fortnights' is no span of time"),
        ("recurrence: 1d, weekdays: [5mo]", "'5mo' is no weekday"),
        ("recurrence: 1d, weekdays: [1mo]", "a numbered weekday needs a month or a year to be counted in"),
        ("recurrence: 1d, count: 0", "'count' is 0"),
        ("count: 2", "'count' is 2 without a recurrence"),
        ("recurrence: 1d, slip: 99999999", "'slip' is 99999999"),
        ("recurrence: 1d, until: '10000-01-01 00:00'", "'10000-01-01 00:00' is no time"),
    ],
)
def test_bad_input_of_a_schedule_is_told_in_its_line(fields: str, message: str) -> None:
    (found,) = problems(own(f"workflow: install, since: '7:30', {fields}"))
    assert (found.code, found.message) == ("PL-B159", message)
    assert found.mend
    assert found.place.line


def test_sc3_a_machine_without_timezones_is_told_which_package_has_them() -> None:
    """In a process of its own, in which neither the system nor the package has any."""
    program = (
        "import sys, zoneinfo; sys.modules['tzdata'] = None; zoneinfo.reset_tzpath([])\n"
        "from phaseline.model.problems.problem import ProblemsError\n"
        "from phaseline.app.zones import read_zone\n"
        "try: read_zone('Europe/Berlin', 2020, 2021)\n"
        "except ProblemsError as error: print([(one.code, one.mend) for one in error.problems])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "[('PL-B159', 'pip install tzdata')]\n"
    message, mend = unknown_zone("Europe/Berlin", (), ProblemReport())
    assert message == "the timezone 'Europe/Berlin' cannot be read: this machine has no data of timezones"
    assert mend == "pip install tzdata"


@pytest.mark.parametrize(
    "fields",
    [
        "since: tomorrow",
        "since: '2 weeks'",
        "since: '+2 fortnights'",
        "since: '2026-01-01'",
        "since: '7:30', until: later",
        "since: '7:30', recurrence: often",
        "since: '7:30', recurrence: '+1d'",
        "since: '7:30', timezone: '+02:00'",
        "since: '7:30', timezone: Europe/Pariss",
        "since: '7:30', timezone: Europe",
        "since: '7:30', timezone: ../etc/passwd",
        "since: '2026-02-30 7:30'",
        "since: '24:00'",
        "since: '0001-01-01 00:00', timezone: Asia/Tokyo",
        "since: '+99999 years'",
        "since: '+0 days'",
        "since: '7:30', recurrence: 999999999 weeks",
        "since: '7:30', recurrence: 0d",
        "since: '7:30', count: 0",
        "since: '7:30', slip: -1",
        "since: '2026-01-02 7:30', until: '2026-01-01 7:30'",
        "since: '7:30', weekdays: [monday]",
        "since: '7:30', weekdays: [5mo]",
    ],
)
def test_b26_what_cannot_be_read_in_a_schedule_is_told(fields: str) -> None:
    (found,) = problems(schedule(f"workflow: w, {fields}"))
    assert (found.code, found.cloudify_code, found.cloudify_class) == ("PL-B159", 1, "DSLParsingException")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ("workflow: w", "PL-B016"),
        ("since: '7:30'", "PL-B016"),
        ("workflow: w, since: '7:30', count: many", "PL-B015"),
        ("workflow: w, since: '7:30', slip: 1.5", "PL-B015"),
        ("workflow: w, since: '7:30', evry: 1d", "PL-B014"),
        ("workflow: w, since: '7:30', execution_arguments: {dry: true}", "PL-B014"),
        ("workflow: w, since: '7:30', workflow_parameters: {a: {get_attribute: [net, a]}}", "PL-B158"),
        ("workflow: w, since: '7:30', workflow_parameters: {a: {get_input: tem}}", "PL-B071"),
    ],
)
def test_b26_the_keys_of_a_schedule_are_checked(fields: str, code: str) -> None:
    assert codes(schedule(fields)) == [code]


def test_b26_the_display_name_is_text_or_a_function() -> None:
    found = read(f"{INPUTS}deployment_settings: {{display_name: {{concat: [shop of, ' ', {{get_input: team}}]}}}}")
    assert with_inputs(found, {"team": "ops"}).deployment_settings == {"display_name": "shop of ops"}
    assert codes(f"{INPUTS}deployment_settings: {{display_name: [a]}}") == ["PL-B015"]
    assert codes(f"{INPUTS}deployment_settings: {{display_name: {{get_input: tem}}}}") == ["PL-B071"]


@pytest.mark.parametrize("setting", ["default_groups: [a]", "id_template: 'a-{uuid}'"])
def test_b26_what_needs_a_server_is_checked_and_without_effect(setting: str) -> None:
    found = read(f"{INPUTS}deployment_settings: {{{setting}}}")
    assert [warning.code for warning in found.warnings] == ["PL-B018"]
    assert codes(f"{INPUTS}deployment_settings: {{{setting.partition(':')[0]}: 5}}") == ["PL-B015"]


def test_b27_tags_are_any_values_from_1_3_on() -> None:
    found = read(f"{INPUTS}resource_tags: {{owner: {{get_input: team}}, cost: 5, more: {{a: [b]}}}}")
    assert found.resource_tags == {"owner": {"get_input": "team"}, "cost": 5, "more": {"a": ["b"]}}
    assert codes("resource_tags: {a: b}", minor=2) == ["PL-B013"]
    assert codes(f"{INPUTS}resource_tags: {{a: {{get_input: tem}}}}") == ["PL-B071"]


def test_b27_definitions_and_metadata_are_free() -> None:
    assert read("dsl_definitions: {a: [{b: c}]}\nmetadata: {a: {b: [1]}}").metadata == {"a": {"b": [1]}}
    assert codes("dsl_definitions: [a, {b: c}]") == []


def test_labels_settings_and_tags_are_stored_with_their_blueprint() -> None:
    found = read(
        schedule(FULL) + "\nlabels: {a: {values: [b]}}\nblueprint_labels: {c: {values: [d]}}\nresource_tags: {e: f}"
    )
    again = blueprint_from_json(blueprint_to_json(found))
    for name in ("labels", "blueprint_labels", "deployment_settings", "resource_tags"):
        assert getattr(again, name) == getattr(found, name)
        assert getattr(found, name)
