"""Agreeing to what waits, without an engine that waits: what is refused, and what is kept."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import phaseline
from phaseline import ProblemsError
from phaseline.app.watcher import NullWatcher
from phaseline.calls.deployments.progress import Progress

BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates: {web: {type: cloudify.nodes.Root}}
"""


def test_where_nothing_waits_nothing_is_approved(tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    with phaseline.open(f"sqlite:///{tmp_path}/store.db") as shop:
        begun = shop.executions.install(str(tmp_path / "blueprint.yaml"), "shop", detach=True)
        with pytest.raises(ProblemsError, match=f"PL-H020 nothing in '{begun.id}' waits"):
            shop.executions.approve(begun.id)


def test_an_approval_of_what_has_ended_is_refused(tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    with phaseline.open("memory:") as shop:
        done = shop.executions.install(str(tmp_path / "blueprint.yaml"), "shop")
        with pytest.raises(ProblemsError, match="PL-C017"):
            shop.executions.approve(done.id)


def test_an_approval_that_nobody_gives_in_time_refuses(tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    waits = {"class": "phaseline.policies.approvals:RequireApproval", "name": "a", "options": {"expires_s": 0.05}}
    with phaseline.open("memory:", settings={"hooks.classes": json.dumps([waits])}) as shop:
        done = shop.executions.install(str(tmp_path / "blueprint.yaml"), "shop")
    assert done.status == "failed"
    assert done.reason.startswith("pre hook a: plan ")
    assert done.reason.endswith(" was not approved within 0 s")
    assert list(done.waits) == []


class UntilItWaits(NullWatcher):
    """Leaves when something sleeps."""

    wants_progress = True

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        self.interrupt = interrupt

    def progressed(self, progress: Progress, now: int) -> None:
        if progress.next_wake is not None:
            self.interrupt()


def test_h_what_waits_for_an_approval_needs_a_person_and_is_told_with_the_command(tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    waits = {"class": "phaseline.policies.approvals:RequireApproval", "name": "a"}
    settings = {"hooks.classes": json.dumps([waits])}
    with phaseline.open(f"sqlite:///{tmp_path}/store.db", settings=settings) as shop:
        begun = shop.executions.install(str(tmp_path / "blueprint.yaml"), "shop", watcher=UntilItWaits())
        needs = [need for need in shop.status().needs if "approval" in need.text]
        (stuck,) = [one for one in shop.instances.stuck().items if one.kind == "approval"]
        plan = shop.executions.approve(begun.id).plan
        assert [need.mend for need in needs] == [f"phaseline executions approve {begun.id} --plan {plan}"]
        assert (stuck.mends, stuck.executions) == ([needs[0].mend], [begun.id])
