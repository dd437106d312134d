"""A run is followed by the process that began it, or by another one, and left to another process (GR3)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import Settings
from phaseline.app.watcher import NullWatcher
from phaseline.embedded.follow_run import executions_of, follow_run
from phaseline.embedded.open_app import open_context
from phaseline.model.problems.problem import ProblemsError
from phaseline.use_cases.commands.estate.group_runs import RunOrder, follow_group, run_group
from phaseline.use_cases.commands.estate.groups import GroupOrder, create_group
from phaseline.use_cases.prepare.group_members import NewMembers

PLAIN = """
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
node_templates: {net: {type: cloudify.nodes.Root}}
"""


class Leaving(NullWatcher):
    """A user who leaves at once."""

    def begun(self, execution: str, deployment: str, interrupt: object) -> None:
        assert callable(interrupt)
        interrupt()


def grouped(ctx: RequestContext, tmp_path: Path) -> None:
    ctx.app.notice = lambda _text: None
    (tmp_path / "blueprint.yaml").write_text(PLAIN)
    create_group(ctx, "shops", GroupOrder(str(tmp_path / "blueprint.yaml"), members=NewMembers(3)))


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[RequestContext]:
    with open_context(Settings(f"sqlite:///{tmp_path}/store.db"), "a test") as found:
        grouped(found, tmp_path)
        yield found


def test_gr3_a_run_is_left_and_followed_later(ctx: RequestContext) -> None:
    submission = run_group(ctx, "shops", RunOrder("install"))
    left = follow_run(ctx, submission, Leaving())
    assert left.counts == {"queued": 3}
    assert [row.number for row in executions_of(ctx, submission.run)] == [1, 2, 3]
    assert follow_run(ctx, follow_group(ctx, "shops")).counts == {"completed": 3}
    assert follow_run(ctx, follow_group(ctx, submission.id)).status == "completed"


def test_gr3_a_store_in_memory_cannot_be_left(tmp_path: Path) -> None:
    with open_context(Settings("memory:"), "a test") as ctx:
        grouped(ctx, tmp_path)
        submission = run_group(ctx, "shops", RunOrder("install"))
        with pytest.raises(ProblemsError) as caught:
            follow_run(ctx, submission, detach=True)
        assert caught.value.problems[0].code == "PL-S008"
        assert follow_run(ctx, submission).status == "completed"
