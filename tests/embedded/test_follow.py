"""Following a submission: what is shown before, and how the answer is made."""

from pathlib import Path

import pytest
from tests.use_cases.commands.test_submission import ctx, shop, work

from phaseline.app.app_context import RequestContext
from phaseline.app.watcher import NullWatcher
from phaseline.embedded.follow import follow
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.commands.control import retry, watch
from phaseline.use_cases.commands.install import install, uninstall
from phaseline.use_cases.commands.submission import Submission, SubmissionFor, adapt
from phaseline.views.views import ExecutionView

__all__ = ["ctx"]


def test_an_execution_that_has_ended_is_followed_at_once(ctx: RequestContext, tmp_path: Path) -> None:
    first = install(ctx, shop(tmp_path))
    work(ctx)
    assert follow(ctx, watch(ctx, first.row.id)).status.value == "failed"
    assert ctx.store.owner() is None


def test_warnings_and_notices_are_shown_before_it_is_followed_and_notes_stand_in_the_view(
    ctx: RequestContext, tmp_path: Path
) -> None:
    class Listening(NullWatcher):
        def __init__(self) -> None:
            self.heard: list[str] = []

        def noticed(self, text: str) -> None:
            self.heard.append(text)

    watcher = Listening()
    found = altered(
        install(ctx, shop(tmp_path)), warnings=(Problem("PL-X001", "odd", "look"),), notices=("seen",), notes=("n",)
    )
    view = follow(ctx, found, watcher)
    assert watcher.heard == ["warning PL-X001 odd; look", "seen"]
    assert view.notices[-1:] == ("n",)


def test_a_command_of_two_executions_goes_on_when_the_first_has_ended(ctx: RequestContext, tmp_path: Path) -> None:
    (tmp_path / "mended").touch()
    seen: list[str] = []

    def then(view: ExecutionView) -> Submission:
        seen.append(view.status.value)
        return uninstall(ctx, "shop")

    view = follow(ctx, altered(install(ctx, shop(tmp_path)), then=then))
    assert (seen, view.workflow, view.status.value) == (["completed"], "uninstall", "completed")


def test_another_answer_than_the_view_is_made_after_the_execution(ctx: RequestContext, tmp_path: Path) -> None:
    found = SubmissionFor(install(ctx, shop(tmp_path)), lambda view: view.status.value)
    assert follow(ctx, adapt(found, str.upper)) == "FAILED"
    assert adapt("now", str.upper) == "NOW"


def test_what_the_owner_has_refused_before_is_raised(ctx: RequestContext, tmp_path: Path) -> None:
    first = install(ctx, shop(tmp_path))
    work(ctx)
    asked = retry(ctx, first.row.id)
    (tmp_path / "mended").touch()
    work(ctx)
    again = ctx.store.ask(RequestKind.RETRY, first.row.number, {"id": first.row.id}, ctx.actor)
    work(ctx)
    assert follow(ctx, altered(asked, row=watch(ctx, first.row.id).row)).status.value == "completed"
    with pytest.raises(ProblemsError, match="PL-C017"):
        follow(ctx, altered(asked, row=watch(ctx, first.row.id).row, request=again))
