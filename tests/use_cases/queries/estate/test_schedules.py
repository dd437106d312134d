"""Schedules are listed, shown and previewed (SC11)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.use_cases.commands.estate.test_schedules import NOW, ms

from phaseline.app.settings import Settings
from phaseline.embedded.open_app import open_context
from phaseline.model.problems.problem import ProblemsError
from phaseline.testing import VirtualClock
from phaseline.use_cases.commands.create_deployment import create
from phaseline.use_cases.commands.estate.schedules import ScheduleOrder, create_schedule, disable_schedule
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.queries.estate.schedules import list_schedules, preview_schedule, show_schedule

PLAIN = """
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
node_templates: {net: {type: cloudify.nodes.Root}}
"""


def test_sc11_lists_details_and_previews(tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").write_text(PLAIN)
    with open_context(Settings(f"sqlite:///{tmp_path}/store.db"), "a test") as ctx:
        ctx.app.clock = VirtualClock(ms(NOW))
        for name in ("shop", "bank"):
            create(ctx, DeploymentSpec(str(tmp_path / "blueprint.yaml"), name))
            create_schedule(ctx, f"of-{name}", name, ScheduleOrder("heal", cron="30 7 * * *", zone="Asia/Tokyo"))
        assert [(view.deployment, view.name) for view in list_schedules(ctx)] == [
            ("bank", "of-bank"),
            ("shop", "of-shop"),
        ]
        assert [view.name for view in list_schedules(ctx, "shop")] == ["of-shop"]
        disable_schedule(ctx, "of-shop", "shop")
        assert show_schedule(ctx, "of-shop", "shop").next_at == 0
        found = preview_schedule(ctx, "of-shop", "shop", count=2)
        assert (found.zone, [time.local for time in found.times]) == (
            "Asia/Tokyo",
            ["2026-11-23 07:30:00+09:00", "2026-11-24 07:30:00+09:00"],
        )
        assert found.times[1].at - found.times[0].at == 86_400_000
        for name, count, code in (("of-bank", 5, "PL-C140"), ("of-shop", 0, "PL-C094"), ("of-shop", 1001, "PL-C094")):
            with pytest.raises(ProblemsError) as caught:
                preview_schedule(ctx, name, "shop", count=count)
            assert [problem.code for problem in caught.value.problems] == [code]
