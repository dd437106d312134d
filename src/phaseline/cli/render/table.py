"""Aligned columns of text, and the small texts that tables consist of."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from phaseline.cli.streams.escaping import in_line, painted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeVar

    from phaseline.views.views import Page

    Row = TypeVar("Row")
    Columns = Mapping[str, Callable[[Row], object]]
    """{column title: function that returns a row's value}; None is shown as ``-``, a sequence with commas."""

COLORS = {
    "completed": "green",
    "started": "green",
    "good": "green",
    "failed": "red",
    "requires_attention": "red",
    "attention": "yellow",
    "unsure": "yellow",
    "canceled": "yellow",
    "canceling": "yellow",
    "failing": "yellow",
    "running": "cyan",
    "in_progress": "cyan",
}
"""{status word: its color on a terminal}; other words have no color."""


def table(columns: Columns[Row], rows: Iterable[Row]) -> str:
    """Return a table with a title above each column. Columns are as wide as needed, and numbers are right-aligned.

    >>> nodes = {"node": lambda row: row[0], "count": lambda row: row[1]}
    >>> print(table(nodes, [("web", 3), ("database", 12)]))
    NODE      COUNT
    web           3
    database     12
    """
    rows = list(rows)
    aligned = [_aligned(title.upper(), [_cell(value(row)) for row in rows]) for title, value in columns.items()]
    head, *lines = ["  ".join(line).rstrip() for line in zip(*aligned, strict=True)]
    return "\n".join([head, *map(_colored, lines)])


def _cell(value: object) -> str:
    """Return the text of a cell, on one line."""
    return in_line(value if isinstance(value, str) else text_of(value) or "-")


def _aligned(title: str, cells: Sequence[str]) -> list[str]:
    """Return the title and the cells of a column, padded to one width."""
    width = max(map(len, (title, *cells)))
    to_right = bool(cells) and all(cell.replace(",", "").isdigit() for cell in cells)
    return [cell.rjust(width) if to_right else cell.ljust(width) for cell in (title, *cells)]


def _colored(line: str) -> str:
    """Color the first status word of a line; click removes colors if the output is not a terminal."""
    for word in line.split():
        if word in COLORS:
            return line.replace(f" {word}", f" {colored(word)}", 1)
    return line


def text_of(value: object) -> str:
    """Return a value as text: the items of a sequence on one line; empty for None."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def facts(width: int, *pairs: tuple[str, object]) -> list[str]:
    r"""Return a line with title and value for each value that is not empty.

    >>> print(*facts(8, ("version", 2), ("labels", ()), ("needs", ["a", "b"])), sep="\n")
      version 2
      needs   a, b
    """
    return [f"  {title:<{width}}{text}" for title, value in pairs if (text := text_of(value))]


def section(title: str, lines: Iterable[str]) -> list[str]:
    """Return a title and the lines below it; empty if there are no lines."""
    below = [f"    {line}" for line in lines]
    return [f"  {title}", *below] if below else []


def some(names: Sequence[str], total: int) -> str:
    """Return the names on one line, and how many of ``total`` are left out.

    >>> some(["a", "b"], 2), some(["a", "b"], 1002)
    ('a, b', 'a, b and 1,000 more')
    """
    left = total - len(names)
    return ", ".join(names) + (f" and {left:,} more" if left > 0 else "")


def more(left: int, what: str = "") -> list[str]:
    """Return a line with the number of things not shown; empty if the number is 0.

    >>> more(1000, "; add --json"), more(0)
    (['  and 1,000 more; add --json'], [])
    """
    return [f"  and {left:,} more{what}"] if left > 0 else []


def colored(word: str) -> str:
    """Return a status word in its color."""
    return painted(word, COLORS.get(word))


def moment(at: int) -> str:
    """Return a time in the local time zone, or ``-``."""
    return datetime.fromtimestamp(at / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S") if at else "-"


def span(milliseconds: int) -> str:
    """Return a length of time in one or two units.

    >>> span(950), span(2_500), span(65_000), span(7_300_000)
    ('1 s', '3 s', '1 min 5 s', '2 h 1 min')
    """
    seconds = max(0, -(-milliseconds // 1000))
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def took(milliseconds: int) -> str:
    """Return how long something took, short times with a decimal, very short ones in milliseconds.

    >>> took(7), took(440), took(12_000)
    ('7 ms', '0.4 s', '12 s')
    """
    if milliseconds < 100:
        return f"{milliseconds} ms"
    return f"{milliseconds / 1000:.1f} s" if milliseconds < 10_000 else span(milliseconds)


def counted(counts: Mapping[str, int]) -> str:
    """Return numbers and their words on one line.

    >>> counted({"started": 1200, "deleted": 1})
    '1,200 started, 1 deleted'
    """
    return ", ".join(f"{count:,} {word}" for word, count in counts.items()) or "-"


def clean(text: str) -> str:
    r"""Return text of plugins or users on one line, with terminal control characters as escapes; tabs stay.

    >>> print(clean("\x1b[31mred"))
    \x1b[31mred
    """
    return text if text.isprintable() else "\t".join(map(in_line, text.split("\t")))


def one_line(text: str) -> str:
    r"""Return a text of several lines, such as several problems, on one line.

    >>> one_line("PL-F069 too many\nPL-F069 too few\n")
    'PL-F069 too many; PL-F069 too few'
    """
    if text.isprintable():  # one line, the common case
        return text.strip()
    return clean("; ".join(line.strip() for line in text.strip().splitlines()))


def number(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> number(1, "node"), number(1000, "node")
    ('1 node', '1,000 nodes')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def left_out(page: Page[object]) -> str:
    """Return a line with the number of rows not shown; empty if all are shown."""
    if page.is_whole:
        return ""
    return f"\n{len(page.items):,} of {page.total:,} shown; see more with --limit N"


def flaws_text(flaws: Sequence[str]) -> str:
    """Return a line for each object that could not be read."""
    return "".join(f"\n{clean(flaw)}" for flaw in flaws)


def cancel(execution: str) -> str:
    """Return the command that stops an execution.

    >>> cancel("install-1")
    'phaseline executions cancel install-1'
    """
    return f"phaseline executions cancel {execution or 'ID'}"
