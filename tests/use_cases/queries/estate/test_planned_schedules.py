"""A plan of an installation lists the schedules of the blueprint (SC11)."""

from __future__ import annotations

from pathlib import Path

from tests.use_cases.commands.estate.test_schedules import NOW, ms

from phaseline.app.settings import Settings
from phaseline.embedded.open_app import open_context
from phaseline.testing import VirtualClock
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.prepare.plan_preview import plan_install
from phaseline.views.json_codec import plain

TIMED = """
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
node_templates: {net: {type: cloudify.nodes.Root}}
"""
SCHEDULES = """
deployment_settings:
  default_schedules:
    passed: {workflow: heal, since: '07:30'}
    nightly: {workflow: heal, since: '07:30', timezone: Europe/Berlin, cron: '30 2 * * *', default_enabled: false}
"""


def test_sc11_a_plan_shows_the_first_three_times_of_each_schedule(tmp_path: Path) -> None:
    file = tmp_path / "blueprint.yaml"
    file.write_text(TIMED + SCHEDULES)
    with open_context(Settings(f"sqlite:///{tmp_path}/store.db"), "a test") as ctx:
        ctx.app.clock = VirtualClock(ms(NOW))
        plan = plan_install(ctx, DeploymentSpec(str(file), "shop"))
        assert plan.text.splitlines()[-3:] == [
            "Schedules, with their next times:",
            "    nightly: heal at 2026-11-23 02:30:00+01:00, 2026-11-24 02:30:00+01:00, 2026-11-25 02:30:00+01:00 (disabled)",
            "    passed: heal never: its last time has passed",
        ]
        value = plain(plan.value)
        assert isinstance(value, dict)
        nightly, passed = value["schedules"]
        assert (nightly["name"], nightly["is_enabled"], len(nightly["times"])) == ("nightly", False, 3)
        assert (passed["name"], passed["times"]) == ("passed", [])


def test_sc11_a_plan_without_schedules_says_nothing_of_them(tmp_path: Path) -> None:
    file = tmp_path / "blueprint.yaml"
    file.write_text(TIMED)
    with open_context(Settings(f"sqlite:///{tmp_path}/store.db"), "a test") as ctx:
        plan = plan_install(ctx, DeploymentSpec(str(file), "shop"))
        assert "Schedules" not in plan.text
        assert plan.value is plan.summary
