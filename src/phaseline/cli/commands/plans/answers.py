"""Output of the plan that a command has made."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.cli.shell.cli_context import CliContext
    from phaseline.use_cases.prepare.plan_preview import PlanPreview
    from phaseline.views.diagrams import Drawing

SOMETHING = 3
"""Exit code with ``--exit-code`` for a plan that is not empty."""


def answer_plan(cli: CliContext, found: PlanPreview, *, tells: bool = False) -> None:
    """Show a plan, its warnings, and the id under which it is stored.

    Exit with code 1 if a hook would refuse the action; with ``tells`` (``--exit-code``), with 3 if the plan is not
    empty.
    """
    if cli.plan_form == "text":
        cli.answer(found.value, lambda: found.text)
    else:
        cli.answer(found.value, lambda: _drawn(found.drawing, cli.plan_form), exactly=True)
    if found.id:
        cli.notice(f"Kept as {found.id}. Carry it out: phaseline plans apply {found.id}")
    if found.around is not None and found.around.refusals:
        raise SystemExit(1)
    if tells and not found.is_empty:
        raise SystemExit(SOMETHING)


def _drawn(found: Drawing, form: str) -> str:
    from phaseline.views.diagrams import drawn

    return drawn(found, form)
