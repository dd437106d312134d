"""Write a plan as text. Equal plans give equal lines, so that two plans can be compared line by line."""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.plan.preview.count_changes import CountChange
    from phaseline.plan.preview.plan_summary import (
        NodePlan,
        OperationPlan,
        PhasePlan,
        PlanSummary,
        RelationshipPlan,
        RoundsPlan,
    )

WIDTH = 60
"""Number of characters after which a value is cut."""
RELATIONSHIP_TYPES = "cloudify.relationships."
INTERFACES = "cloudify.interfaces."
USUAL = ("use_external_resource", False)
"""A property and its usual value, which is not shown because all nodes that Phaseline creates itself have it."""
SHOWN = 5
"""Largest number of ids of added instances that the text names; the bound for removed ones is equal."""
LIFECYCLES = ("lifecycle.", "relationship_lifecycle.")


def plan_text(summary: PlanSummary) -> str:
    """Return the whole plan as text; it ends with a line break."""
    lines = [f"{summary.workflow}: {counted(len(summary.nodes), 'node')}, {counted(summary.instances, 'instance')}"]
    lines += _resized(summary.resized)
    for node in summary.nodes:
        lines += ["", *_node(node)]
    lines += ["", *_execution(summary)]
    for warning in summary.warnings:
        lines += ["", *warning_lines(warning)]
    return "\n".join(lines) + "\n"


def rounds_text(found: RoundsPlan) -> str:
    """Return the whole plan of several rounds as text; it ends with a line break."""
    total = len(found.rounds)
    lines = [f"{found.workflow}: {total} rounds one after the other, {counted(found.calls, 'plugin call')}"]
    lines += _resized(found.resized)
    for number, summary in enumerate(found.rounds, 1):
        lines += ["", f"round {number} of {total}: {plan_text(summary).rstrip()}"]
    for warning in found.warnings:
        lines += ["", *warning_lines(warning)]
    return "\n".join(lines) + "\n"


def _resized(nodes: Sequence[CountChange]) -> Iterable[str]:
    for node in nodes:
        moves = (("come", node.added, node.comes), ("go", node.removed, node.goes))
        who = [f"{_first(ids, count)} {verb}" for verb, ids, count in moves if count]
        yield f"    {node.name}: {node.before:,} -> {node.after:,}; {', '.join(who)}"


def _first(ids: Sequence[str], count: int) -> str:
    more = f" and {count - SHOWN:,} more" if count > SHOWN else ""
    return ", ".join(ids[:SHOWN]) + more


def _node(node: NodePlan) -> Iterable[str]:
    yield f"{node.sign} {node.name}  {node.type}" + (f" × {node.count:,}" if node.count else "")
    for name, value in node.properties.items():
        if value not in (None, "", [], {}) and (name, value) != USUAL:
            yield f"    {name}: {shown(value)}"
    if node.states:
        yield from _states(node)
    else:
        yield from _table([_operation(operation, node.count) for operation in node.operations], indent=4)
    for relationship in node.relationships:
        yield from _relationship(relationship)


def _states(node: NodePlan) -> Iterable[str]:
    """Yield the lines of a node on a state path: a line for each call in each state, in order.

    The first line of each state begins with the state's name. A state without calls has one line.
    """
    known = {operation.name: operation for operation in node.operations}
    rows: list[list[str]] = []
    for state in node.states:
        calls = []
        for call in state.calls:
            how = "phase, if it applies" if call.may_not_apply else "phase"
            calls.append([call.name, how] if call.is_phase else _operation(known[call.name], call.count)[:2])
        rows += [[state.name if first else "", *call] for first, call in _firsts(calls)] or [[state.name]]
    yield from _table(rows, indent=4)


def _firsts(calls: Sequence[list[str]]) -> Iterable[tuple[bool, list[str]]]:
    return ((number == 0, call) for number, call in enumerate(calls))


def _operation(operation: OperationPlan, expected: int) -> list[str]:
    row = [_short(operation.name), _implementation(operation)]
    return row if operation.count == expected else [*row, f"({operation.count:,} of {expected:,})"]


def _relationship(relationship: RelationshipPlan) -> Iterable[str]:
    kind = relationship.type.removeprefix(RELATIONSHIP_TYPES)
    how = " (all to one)" if relationship.connection == "all_to_one" else ""
    yield f"    {kind} {relationship.target}{how}"
    rows = []
    for side, operations in (("source", relationship.source_operations), ("target", relationship.target_operations)):
        rows += [
            [_short(operation.name), side, _implementation(operation), f"× {operation.count:,}"]
            for operation in operations
        ]
    yield from _table(rows, indent=8)


def _execution(summary: PlanSummary) -> Iterable[str]:
    if not summary.phases:
        yield "execution: nothing is called"
        return
    least = "at least " if any(phase.is_least for phase in summary.phases) else ""
    yield (
        f"execution: {counted(summary.waves, 'wave')}, {least}{counted(summary.batches, 'batch', 'batches')}, "
        f"{least}{counted(summary.calls, 'plugin call')}{_expected(summary.expected_s)}"
    )
    head = ["operation", "on", "batches", "calls", "waves", "how"]
    yield from _table([head, *(_phase(phase) for phase in summary.phases)], indent=4, right=(1, 2, 3))


def _expected(seconds: float | None) -> str:
    return "" if seconds is None else f"; about {seconds:g} s, as long as before"


def _phase(phase: PhasePlan) -> list[str]:
    waves = (
        f"{phase.first_wave:,}" if phase.first_wave == phase.last_wave else f"{phase.first_wave:,}-{phase.last_wave:,}"
    )
    how = {"bulk": "in bulk", "each": f"one by one, {phase.pool}"}[phase.form]
    least = "≥ " if phase.is_least else ""
    return [_short(phase.name), f"{phase.count:,}", f"{least}{phase.batches:,}", f"{least}{phase.calls:,}", waves, how]


def warning_lines(warning: Problem) -> Iterable[str]:
    """Yield a warning and how to remedy it."""
    yield f"warning {warning}"
    yield f"    {warning.mend}"


def _short(name: str) -> str:
    """Return the name without the common prefix of built-in interfaces."""
    short = name.removeprefix(INTERFACES)
    for prefix in LIFECYCLES:
        short = short.removeprefix(prefix)
    return short


def _implementation(operation: OperationPlan) -> str:
    if operation.form == "function" and operation.plugin:
        return f"{operation.plugin}.{operation.implementation}"
    if operation.form != "inline":
        return operation.implementation
    lines = operation.implementation.strip().splitlines()
    return f"inline script of {counted(len(lines), 'line')}"


def shown(value: Value) -> str:
    """Return a value in one line, cut if it is long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = text.replace("\n", "\\n")
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, such as ``3 nodes``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def _table(rows: Sequence[Sequence[str]], *, indent: int, right: Sequence[int] = ()) -> Iterable[str]:
    """Yield the rows as lines with aligned columns; the columns numbered in ``right`` are aligned to the right."""
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    for row in rows:
        cells = [
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        yield (" " * indent + "  ".join(cells)).rstrip()
