"""The table that is redrawn on a terminal while an execution runs: a row for each node and operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleDimensions, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from phaseline.cli.render.progress.breakpoint_notices import standing, standing_text
from phaseline.cli.render.progress.progress import Quiet, StopHints, failing_text, short, summary
from phaseline.cli.streams import terminal_capture as overheard
from phaseline.cli.streams.escaping import in_line, visible
from phaseline.cli.streams.output import errors, settle, terminal_size
from phaseline.model.graph.status import EntryStatus

if TYPE_CHECKING:
    from phaseline.app.watcher import Progress, ProgressRow

MOST_ROWS = 20
BAR_CELLS = 24
LONGEST_LINE = 10_000
"""Largest number of characters of other programs' output that are held back until their line ends."""
RATE_OVER_MS = 3_000
"""Time in ms over which rates are averaged."""
SEGMENTS = (
    ("green", "━", (EntryStatus.COMPLETED, EntryStatus.PASSED)),
    ("red", "×", (EntryStatus.FAILED, EntryStatus.UNSURE)),
    ("magenta", "-", (EntryStatus.SKIPPED, EntryStatus.CANCELED, EntryStatus.CANCELING)),
    ("cyan", ">", (EntryStatus.RUNNING,)),
    ("yellow", "~", (EntryStatus.SLEEPING,)),
    ("bright_black", "·", (EntryStatus.WAITING, EntryStatus.BLOCKED)),
)
"""Color and sign of a bar's segments, in order, and the statuses that each counts.

Without colors, the signs tell the segments apart.
"""


class LiveTable(Quiet):
    """A reporter that draws with rich; notices stay above the table."""

    wants_progress = True

    def __init__(self, console: Console | None = None) -> None:
        """Prepare the table without drawing it."""
        super().__init__()
        self._terminal = None if console else errors()
        self._console = console or Console(file=self._terminal)
        self._live: Live | None = None
        self._title = self._deployment = ""
        self._rates = StepRates()
        self._endings = StopHints("")
        self._line = ""
        """Output of other programs whose line has not ended yet."""

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        """Start drawing."""
        super().begun(execution, deployment, interrupt)
        self._title, self._deployment = f"{execution} of '{deployment}'", deployment
        self._endings = StopHints(execution)
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,  # foreign output is escaped and arrives by ``overheard``
            redirect_stderr=False,
        )
        self._live.start()
        overheard.shown_by(self.overhear)

    def progressed(self, progress: Progress, now: int) -> None:
        """Redraw the table."""
        if self._live is not None:
            self._fit()
            ends = self._endings.now(progress, now)
            self._live.update(draw(progress, now, self._title, self._rates, self._deployment, ends), refresh=True)

    def _fit(self) -> None:
        """Adopt the terminal's present width. rich would ask descriptors 0 to 2, which may not be terminals."""
        if self._terminal is not None:
            self._console.size = ConsoleDimensions(*terminal_size(self._terminal))

    def noticed(self, text: str) -> None:
        """Print the sentence above the table."""
        self._console.print(Text(visible(text)))

    def overhear(self, text: str) -> None:
        """Print output of other programs, escaped, above the table, line by line."""
        *lines, self._line = (self._line + text).split("\n")
        if len(self._line) > LONGEST_LINE:
            lines, self._line = [*lines, self._line], ""
        if lines:
            self._console.print(Text("\n".join(lines)), soft_wrap=True)

    def ended(self) -> None:
        """Remove the table; the command prints its answer next."""
        super().ended()
        if self._live is not None:
            settle()
            overheard.shown_by(None)
            self.overhear("\n" if self._line else "")
            self._live.stop()
            self._live = None


class StepRates:
    """Rates of the rows: number of steps that ended per second, over the last few seconds."""

    def __init__(self) -> None:
        """Begin with no observation."""
        self._seen: dict[tuple[str, str], list[tuple[int, int]]] = {}

    def rate(self, row: ProgressRow, now: int) -> float:
        """Return the number of the row's steps that ended per second."""
        seen = self._seen.setdefault((row.node, row.phase), [])
        seen.append((now, row.ended))
        while len(seen) > 2 and seen[1][0] <= now - RATE_OVER_MS:
            seen.pop(0)
        (since, before), (until, after) = seen[0], seen[-1]
        return (after - before) * 1000 / (until - since) if until > since else 0.0


def draw(
    progress: Progress,
    now: int,
    title: str,
    rates: StepRates,
    deployment: str = "NAME",
    ends: Sequence[str] = (),
) -> Group:
    """Return the table: title, rows, number of omitted rows, failing instances, instances at breakpoints.

    ``ends``: sentences with the commands that end repeated failures or hanging calls.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("node", "operation", "", "done", "per s", "now"):
        table.add_column(name, justify="right" if name in {"done", "per s"} else "left", no_wrap=True)
    rows = [row for row in progress.rows if row.phase]
    shown = chosen(rows)
    for row in shown:
        rate = rates.rate(row, now)
        table.add_row(
            Text(in_line(row.node or "all nodes")),
            Text(in_line(short(row.phase))),
            bar(row),
            f"{row.ended:,}/{row.total:,}",
            f"{rate:,.0f}" if rate else "",
            doing(row),
        )
    parts: list[Table | Text] = [Text(in_line(f"{title}: {summary(progress, now)}"), style="bold"), table]
    if len(rows) > len(shown):
        parts.append(Text(f"… and {len(rows) - len(shown):,} more rows", style="dim"))
    parts.extend(
        Text(in_line(failing_text(failing, now)), style="red", overflow="ellipsis", no_wrap=True)
        for failing in progress.failing
    )
    if progress.failing_count > len(progress.failing):
        parts.append(Text(f"… and {progress.failing_count - len(progress.failing):,} more that fail", style="red"))
    parts.extend(
        Text(in_line(standing_text(point, count, deployment)), style="yellow")
        for point, count in standing(progress).items()
    )
    parts.extend(Text(sentence, style="yellow") for sentence in ends)
    return Group(*parts)


def chosen(rows: Sequence[ProgressRow]) -> list[ProgressRow]:
    """Return at most ``MOST_ROWS`` rows in their order: failing rows are preferred, then active, waiting and ended ones."""
    if len(rows) <= MOST_ROWS:
        return list(rows)
    ranked = sorted(range(len(rows)), key=lambda place: (_rank(rows[place]), place))
    return [rows[place] for place in sorted(ranked[:MOST_ROWS])]


def _rank(row: ProgressRow) -> int:
    if any(row.counts.get(status) for status in (EntryStatus.FAILED, EntryStatus.UNSURE)):
        return 0
    if any(row.counts.get(status) for status in (EntryStatus.RUNNING, EntryStatus.SLEEPING, EntryStatus.CANCELING)):
        return 1
    if row.counts.get(EntryStatus.WAITING):
        return 2
    return 4 if row.ended == row.total else 3


def bar(row: ProgressRow) -> Text:
    """Return a bar with a segment for each kind of status; every kind that occurs gets at least one cell."""
    counts = [sum(row.counts.get(status, 0) for status in statuses) for _, _, statuses in SEGMENTS]
    cells = cells_of(counts, BAR_CELLS)
    text = Text()
    for (color, sign, _), width in zip(SEGMENTS, cells, strict=True):
        text.append(sign * width, style=color)
    return text


def cells_of(counts: Sequence[int], width: int) -> list[int]:
    """Return how many of ``width`` cells each count gets: in proportion, and at least one unless it is 0.

    >>> cells_of([1, 0, 999], 10)
    [1, 0, 9]
    """
    total = sum(counts)
    if not total:
        return [0] * len(counts)
    cells = [max(1, count * width // total) if count else 0 for count in counts]
    largest = max(range(len(counts)), key=lambda place: counts[place])
    cells[largest] += width - sum(cells)
    return cells


def doing(row: ProgressRow) -> str:
    """Return what the row does now, in words."""
    words = []
    for status in (
        EntryStatus.RUNNING,
        EntryStatus.SLEEPING,
        EntryStatus.FAILED,
        EntryStatus.UNSURE,
        EntryStatus.SKIPPED,
    ):
        if row.counts.get(status):
            words.append(f"{row.counts[status]:,} {status.word}")
    return ", ".join(words)
