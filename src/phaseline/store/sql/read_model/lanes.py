"""Statistics of several lanes: the number of their batches, the time that these took, and the latest of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from phaseline.model.rows.rows import LaneStatistics
from phaseline.store.codec.json_documents import to_text
from phaseline.store.sql import queries as reads
from phaseline.store.sql.read_model.one_statement import CHOSEN, Part, Row

if TYPE_CHECKING:
    from phaseline.model.rows.rows import BatchRow
    from phaseline.store.database.tenant_rows import TenantRows


class LaneRows:
    """The parts of a statement that select the batches of lanes, and their rows as statistics."""

    def __init__(
        self,
        lanes: Collection[str],
        last: int,
        own: TenantRows,
        reader: Callable[[Sequence[Row]], Callable[[Row], BatchRow]],
    ) -> None:
        """``last``: number of the latest batches of each lane.

        ``own``: the rows whose calls are counted. ``reader`` returns a function that reads one of some batches.
        """
        self._own = own
        self._reader = reader
        self._lanes = sorted(lanes)
        self._last = last
        self._counts: dict[str, tuple[int, int]] = {}

    def parts(self) -> tuple[Part, Part]:
        """Return the parts whose rows ``count`` and ``read`` take, in this order."""
        which = to_text(self._lanes)
        condition, values = f"phase {CHOSEN}", tuple[object, ...]((which,))
        if self._own.tenant is not None:
            condition, values = f"{condition} and {reads.FIRST_IN_OWN}", (which, *(self._own.tenant,) * 3)
        return (
            Part(
                f"""select phase, count(*),
                coalesce(cast(sum(closed_at - started_at) filter (where closed_at > 0) as bigint), 0)
                from batch where {condition} group by phase""",
                "tii",
                values,
            ),
            Part(
                f"""select {reads.BATCH} from batch where id in (select id from (
                select id, row_number() over (partition by phase order by id desc) as place
                from batch where {condition}) as ranked where place <= ?)""",
                reads.BATCH_KINDS,
                (*values, self._last),
            ),
        )

    def count(self, rows: list[Row]) -> Mapping[str, object]:
        """Take the numbers and times of batches."""
        self._counts = {phase: (count, took_ms) for phase, count, took_ms in rows}
        return {}

    def read(self, rows: list[Row]) -> Mapping[str, object]:
        """Return the statistics of the lanes, {"lanes": {lane: statistics}}."""
        last: dict[str, list[BatchRow]] = {}
        read = self._reader(rows)
        for row in sorted(rows, key=itemgetter(0)):
            last.setdefault(row[1], []).append(read(row))
        return {
            "lanes": {lane: LaneStatistics(*self._counts.get(lane, (0, 0)), last.get(lane, ())) for lane in self._lanes}
        }
