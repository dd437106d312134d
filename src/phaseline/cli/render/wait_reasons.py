"""The reasons why an instance does not continue, as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.progress.progress import retry_text, short
from phaseline.cli.render.table import colored, moment, span

if TYPE_CHECKING:
    from phaseline.use_cases.queries.wait_reasons import Waiting


def waiting_text(found: Waiting) -> str:
    """The instance, each reason with its times and what would unblock it, and the process that runs the execution."""
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
            if reason.blocker_count > len(reason.blockers):
                lines.append(f"      and {reason.blocker_count - len(reason.blockers):,} more")
        for one in reason.roots or reason.blockers:
            if one.attempts:
                again = retry_text(one.attempts, one.max_retries, one.due, one.message, found.now_at)
                lines.append(f"      {one.instance} {short(one.operation)} failing: {again}")
        if reason.mend:
            lines.append(f"      {reason.mend}")
    lines.append(f"  {found.note}")
    return "\n".join(lines)
