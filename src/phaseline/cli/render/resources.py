"""Resources as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.cli.render.table import clean, colored, counted, flaws_text, moment, number, some, span, table

if TYPE_CHECKING:
    from phaseline.cli.render.table import Columns
    from phaseline.use_cases.commands.resources.apply import Applied
    from phaseline.use_cases.commands.resources.phase_decisions import Decided
    from phaseline.use_cases.commands.resources.set_target import Moved
    from phaseline.use_cases.queries.resources.failure_groups import FailureGroup
    from phaseline.use_cases.queries.resources.history import ResourceHistory
    from phaseline.use_cases.queries.resources.resource_waits import Why
    from phaseline.use_cases.queries.resources.resources import ResourceList, ResourceView
    from phaseline.use_cases.queries.resources.rows import ResourceRow
    from phaseline.views.phase_entry import PhaseEntryView

ENGINE = "No engine runs; start one: phaseline engine run --until-idle"
PHASES_SHOWN = 3
LONG_MS = 60_000
"""Time in ms from which on the time that a resource spends in a phase is shown."""
MESSAGE_WIDTH = 60
GROUP_WIDTH = 200
"""Largest number of characters shown of the message that a group of equal failures shares."""


def applied_text(found: Applied) -> str:
    """Return the number of records by action, and the number of resources by target, as text."""
    if not found.resources:
        return "There are no records in these files."
    actions: Counter[str] = Counter(one.action for one in found.resources)
    targets = Counter(one.target for one in found.resources if one.target)
    lines = [f"{', '.join(found.clusters)}: {counted(dict(actions))}"]
    lines += [f"  {number(count, 'resource')} to {clean(target)}" for target, count in targets.items()]
    lines += [f"warning: {clean(warning)}" for warning in found.warnings]
    if targets and not found.is_running:
        lines.append(ENGINE)
    return "\n".join(lines)


def resource_list(found: ResourceList, now: int) -> str:
    """Return a table of resources, the number of those not shown, and groups of equal failures."""
    if found.there_are and not found.total:
        return f"None of {number(found.there_are, 'resource')} matches." + flaws_text(found.flaws)
    if not found.total:
        none = "No resources. Add some to a cluster: phaseline resources apply FILE -d CLUSTER"
        return none + flaws_text(found.flaws)
    columns: Columns[ResourceRow] = {
        "name": lambda one: one.name,
        "cluster": lambda one: one.cluster,
        "type": lambda one: one.type,
        "state": lambda one: one.state or "-",
        "target": lambda one: one.target or "-",
        "status": lambda one: one.status,
        "phases": lambda one: _phases(one.entries, now),
    }
    left = found.total - len(found.resources)
    lines = [f"… and {left:,} more; --limit shows more of them"] if left else []
    if found.failures:
        lines += ["", *map(_failure, found.failures)]
    return "\n".join([table(columns, found.resources), *lines]) + flaws_text(found.flaws)


def _phases(entries: Sequence[PhaseEntryView], now: int) -> str:
    """Return a text about the phases that keep a resource in its state, failed ones first, with their messages."""
    ordered = sorted(entries, key=lambda entry: entry.status != "Failed")
    told = [_brief(entry, now) for entry in ordered[:PHASES_SHOWN]]
    left = len(ordered) - PHASES_SHOWN
    return "; ".join(told) + (f"; {left} more" if left > 0 else "")


def _brief(entry: PhaseEntryView, now: int) -> str:
    lasts_ms = now - entry.since_at if entry.since_at else 0
    due = f" for {span(lasts_ms)}" if lasts_ms >= LONG_MS else ""
    due += f", in {span(entry.next_run_at - now)}" if entry.next_run_at > now else ""
    said = entry.message or entry.note or (f"for {', '.join(entry.waiting_for)}" if entry.waiting_for else "")
    return f"{entry.phase} {entry.status}{due}{': ' + _short(said) if said else ''}"


def _short(text: str, width: int = MESSAGE_WIDTH) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def _failure(group: FailureGroup) -> str:
    lines = [
        f"    {some(group.resources, group.count)} of {', '.join(group.clusters)}",
        f"    phaseline resources retry --group {group.key}",
    ]
    what = clean(f"{group.count:,} × {group.phase}: {_short(group.message, GROUP_WIDTH)}")
    return "\n".join([f"{colored('failed')}  {what}", *map(clean, lines)])


def resource_text(found: ResourceView) -> str:
    """Return the status of a resource, then its record in formal text."""
    way = f"{found.state or 'in no state yet'}, target {found.target or 'none'}"
    moves = "" if not found.is_moving else f"; {found.execution} moves it"
    return f"# {clean(found.name)} of {found.cluster}: {found.status} ({way}{moves})\n" + found.text.removesuffix("\n")


def moved_text(found: Moved) -> str:
    """Return the number of resources, their names, and the process that carries the command out, as text."""
    if not found.changed:
        return f"{found.what}: nothing to change of {number(found.meant, 'resource')}"
    names = some([*map(clean, found.names)], found.changed)
    line = f"{found.what}: {number(found.changed, 'resource')} ({names}), {', '.join(found.executions)}"
    needs_engine = not found.is_running and found.what.startswith("target")
    return "\n".join([line, *([ENGINE] if needs_engine else [])])


def decided_text(found: Decided) -> str:
    """Return the number of resources, the phases, and the process that carries the command out, as text."""
    phases = ", ".join(map(clean, found.phases))
    line = f"{found.what}: {number(found.resources, 'resource')} in {phases} ({', '.join(found.executions)})"
    return "\n".join([line, *([] if found.is_running else [ENGINE])])


def history_text(found: ResourceHistory) -> str:
    """Return one line for each event, the oldest first."""
    left = found.total - len(found.events)
    lines = [f"… {left:,} earlier; --limit shows more of them"] if left else []
    for event in found.events:
        who = f" by {event.actor}" if event.actor else ""
        phase = f"{event.phase}  " if event.phase else ""
        run = f" (run {event.run}, {number(event.batch_size, 'resource')})" if event.run else ""
        said = f": {' '.join(event.message.split())}" if event.message else ""
        lines.append(clean(f"{moment(event.at)}  {event.state:<14}  {phase}{event.what}{run}{who}{said}"))
    return "\n".join(lines) or f"No event of {found.name} is stored yet."


def why_text(found: Why, now: int) -> str:
    """Return a text about a resource's state and each phase: what it waits for, or why it does not apply."""
    lines = [f"{clean(found.name)} of {found.cluster}: {found.text}"]
    for phase in found.phases:
        said = f": {phase.text}" if phase.text else ""
        lines.append(clean(f"  {phase.phase}  {phase.status}{said}"))
        if phase.until_at > now:
            lines.append(f"      due {moment(phase.until_at)}, in {span(phase.until_at - now)}")
        if phase.mend:
            lines.append(f"      {phase.mend}")
    if found.note:
        lines.append(f"  {found.note}")
    return "\n".join(lines)
