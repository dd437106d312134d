"""What is stuck: since when, and which commands help, over several deployments."""

from collections.abc import Iterator

import pytest
from tests.store.builders import added, batch, closed, graph, installed, numbers, status, turn

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import Settings
from phaseline.embedded.open_app import open_context
from phaseline.model.execution.events import PageWritten
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.use_cases.queries.stuck import NAMED, list_stuck


@pytest.fixture
def ctx() -> Iterator[RequestContext]:
    with open_context(Settings("memory:"), "a test") as found:
        yield found


def begin(ctx: RequestContext, name: str, number: int, *, ended: ExecutionStatus | None = None) -> None:
    """An install whose first two calls failed; open, unless ``ended`` says how it came out."""
    with ctx.app.store.own("a test"):
        _, run = installed(ctx.store, name)
        failed = OutcomeKind.FAILED
        page = PageWritten(number, 0, bytes([EntryStatus.FAILED] * 2 + [EntryStatus.BLOCKED] * 22))
        ctx.app.store.commit(
            turn(
                graphs=(added(number, run, graph()),),
                opened=(batch(number, run, numbers(0, 1), graph=number),),
                closed=(closed(number, failed, failed),),
                pages=(page,),
                executions=(status(run, ended or ExecutionStatus.RUNNING),),
            )
        )


def test_what_nobody_runs_counts_from_its_last_sign_of_life(ctx: RequestContext) -> None:
    begin(ctx, "shop", 1)
    (abandoned,) = [stuck for stuck in list_stuck(ctx).items if stuck.kind == "abandoned"]
    assert abandoned.since_at == 25  # when its last call came back; it was made at 7, and begun at 10
    assert abandoned.mends == ["phaseline executions resume install-1"]


def test_one_engine_carries_on_all_that_nobody_runs(ctx: RequestContext) -> None:
    begin(ctx, "shop", 1)
    begin(ctx, "farm", 2)
    (abandoned,) = [stuck for stuck in list_stuck(ctx).items if stuck.kind == "abandoned"]
    assert (abandoned.execution_count, abandoned.mends) == (2, ["phaseline engine run"])


def test_what_failed_in_several_deployments_has_a_command_for_each(ctx: RequestContext) -> None:
    for number in range(1, NAMED + 3):
        begin(ctx, f"shop-{number}", number, ended=ExecutionStatus.FAILED)
    (failed,) = [stuck for stuck in list_stuck(ctx).items if stuck.kind == "failed"]
    assert failed.execution_count == NAMED + 2
    assert failed.mends == [f"phaseline executions retry install-{number}" for number in range(1, NAMED + 1)]
