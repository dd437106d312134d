"""A problem as text for people: what is wrong, where, the source line with a caret, and how to correct it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

from phaseline.model.problems.problem import NOWHERE

if TYPE_CHECKING:
    from phaseline.model.problems.problem import Place, Problem

WIDTH = 120
"""Most characters of a source line that are shown; of a longer line the part around the caret is shown."""
_LEAD = 40

Role: TypeAlias = Literal["code", "caret", "mend"]
"""The kind of a piece of text, used to choose its colour."""


def render_problem(problem: Problem, paint: Callable[[str, Role], str] = lambda text, _: text) -> str:
    """Return the problem in two to five lines, without a final line break. ``paint`` may add colours.

    >>> from phaseline.model.problems.problem import Place, Problem
    >>> place = Place("web.yaml", 3, 5, "node_templates.web.typ", "    typ: cloudify.nodes.Root")
    >>> print(render_problem(Problem("PL-B014", "'typ' is not a key of a node template", "did you mean 'type'?", place)))
    PL-B014 error: 'typ' is not a key of a node template
      at web.yaml:3:5  (node_templates.web.typ)
      3 |     typ: cloudify.nodes.Root
        |     ^
      mend: did you mean 'type'?
    """
    place = problem.place
    lines = [f"{paint(problem.code, 'code')} {problem.severity}: {problem.message}"]
    if place != NOWHERE and str(place):
        lines.append(_in_line(f"  at {place}" + (f"  ({place.path})" if place.path else "")))
    lines.extend(_source_lines(place, paint))
    lines.append(f"  {paint('mend:', 'mend')} {problem.mend}")
    return "\n".join(lines)


def _in_line(text: str) -> str:
    """Return the text on one line, so that a line break in a name cannot start a new line of output."""
    return text if text.isprintable() else "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _source_lines(place: Place, paint: Callable[[str, Role], str]) -> list[str]:
    """Return the source line and a line with the caret below it, or nothing for a place without source text."""
    if not place.line or not place.text.strip():
        return []
    text, column = place.text.rstrip(), max(place.column, 1)
    if len(text) > WIDTH:
        begin = max(0, min(column - 1 - _LEAD, len(text) - WIDTH))
        cut = text[begin : begin + WIDTH]
        lead, trail = "…" if begin else "", "…" if begin + WIDTH < len(text) else ""
        text, column = f"{lead}{cut}{trail}", column - begin + len(lead)
    parts = [char if char == "\t" else _in_line(char) for char in text]
    shown = "".join(parts)
    pad = "".join("\t" if part == "\t" else " " * len(part) for part in parts[: column - 1])
    pad += " " * max(0, column - 1 - len(parts))
    number = str(place.line)
    return [f"  {number} | {shown}", f"  {' ' * len(number)} | {pad}{paint('^', 'caret')}"]
