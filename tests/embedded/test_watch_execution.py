"""Watching an execution that another process runs: until it settles, until this process may own the store, or until its user leaves."""

from pathlib import Path

from tests.run.leases import ScriptedLease
from tests.use_cases.commands.test_submission import ctx, shop, work

from phaseline.app.app_context import RequestContext
from phaseline.app.watcher import NullWatcher
from phaseline.embedded.watch_execution import Ending, is_settled, wait
from phaseline.use_cases.commands.install import install
from phaseline.use_cases.commands.submission import SubmissionAnswer

__all__ = ["ctx"]


def test_a_new_execution_is_owned_at_once_where_that_is_possible(ctx: RequestContext, tmp_path: Path) -> None:
    answer, lease = SubmissionAnswer(install(ctx, shop(tmp_path))), ScriptedLease()
    assert wait(ctx, answer, NullWatcher(), leaves=lambda: False, own=lambda: lease) is lease


def test_a_user_who_leaves_is_let_go_before_it_is_owned(ctx: RequestContext, tmp_path: Path) -> None:
    answer = SubmissionAnswer(install(ctx, shop(tmp_path)))
    assert wait(ctx, answer, NullWatcher(), leaves=lambda: True, own=ScriptedLease) is Ending.LEFT


def test_what_another_process_has_carried_out_is_settled(ctx: RequestContext, tmp_path: Path) -> None:
    answer = SubmissionAnswer(install(ctx, shop(tmp_path)))
    assert not is_settled(ctx.store, answer)
    work(ctx)
    assert wait(ctx, answer, NullWatcher(), leaves=lambda: False, own=lambda: None) is Ending.SETTLED
