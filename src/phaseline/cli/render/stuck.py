"""Stuck instances and resources, and the reasons why one instance waits, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.progress.progress import retry_text, short
from phaseline.cli.render.table import clean, colored, flaws_text, left_out, moment, more, number, some, span

if TYPE_CHECKING:
    from phaseline.use_cases.queries.instance_waits import Waiting
    from phaseline.use_cases.queries.stuck import Stuck
    from phaseline.views.views import Page


NOUNS = {"waiting": "instance", "abandoned": "step", "approval": "hook", "breakpoint": "instance"}
"""{reason of waiting: the noun that is counted if no operation is named}"""


def stuck_text(page: Page[Stuck], now: int) -> str:
    """Return a paragraph for each group of stuck instances, the oldest first; a line if there are none."""
    if not page.total:
        return "Nothing is stuck." + flaws_text(page.flaws)
    return "\n".join(_paragraph(stuck, now) for stuck in page.items) + left_out(page) + flaws_text(page.flaws)


def _paragraph(stuck: Stuck, now: int) -> str:
    what = (
        f"{stuck.count:,} × {short(stuck.operation)}"
        if stuck.operation
        else number(stuck.count, NOUNS.get(stuck.kind, "call"))
    )
    age = f" for {span(now - stuck.since_at)}, since {moment(stuck.since_at)}" if stuck.since_at else ""
    lines = [f"{colored('failing' if stuck.attempts else stuck.kind)}  {what}{age}"]
    said = stuck.message.strip().splitlines()
    if stuck.attempts:
        again = retry_text(stuck.attempts, stuck.max_retries, stuck.until_at, stuck.message, now)
        lines.append(f"    failing: {again}")
    elif said:
        lines.append(f"    {clean(said[-1])}")
    if stuck.until_at > now and not stuck.attempts:
        lines.append(f"    next try in {span(stuck.until_at - now)}")
    others = stuck.execution_count - len(stuck.executions)
    executions = some(stuck.executions, stuck.execution_count)
    deployments = some(stuck.deployments, stuck.deployment_count)
    lines.append(f"    {executions} of {deployments}")
    if stuck.instances:
        lines.append(f"    {some(stuck.instances, stuck.count)}")
    lines.extend(f"    {mend}" for mend in stuck.mends)
    if len(stuck.mends) > 1 and others:
        lines.append(f"    the same for {number(others, 'more execution')}")
    return "\n".join(lines)


def waiting_text(found: Waiting) -> str:
    """Return a text about an instance: each reason why it waits, with times and what would unblock it.

    Name the process that runs the execution, too.
    """
    lines = [f"{found.instance} of '{found.deployment}': {colored(found.state)}"]
    for reason in found.reasons:
        lines.append(f"  {reason.text}")
        if reason.since:
            lines.append(f"      since {moment(reason.since)}, for {span(found.now_at - reason.since)}")
        if reason.until:
            left = reason.until - found.now_at
            lines.append(f"      due {moment(reason.until)}" + (f", in {span(left)}" if left > 0 else ""))
        if reason.blocker_count > 1:
            lines.extend(
                f"      {blocker.instance} {blocker.operation} ({blocker.status})" for blocker in reason.blockers
            )
            lines += [f"    {line}" for line in more(reason.blocker_count - len(reason.blockers))]
        for one in reason.roots or reason.blockers:
            if one.attempts:
                again = retry_text(one.attempts, one.max_retries, one.due, one.message, found.now_at)
                lines.append(f"      {one.instance} {short(one.operation)} failing: {again}")
        if reason.mend:
            lines.append(f"      {reason.mend}")
    lines.append(f"  {found.note}")
    return "\n".join(lines)
