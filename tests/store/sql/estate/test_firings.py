"""The next schedule is found by an index, however many there are (SC5, A62)."""

from pathlib import Path

from tests.store import builders as a

from phaseline.model.rows.schedules import NewSchedule
from phaseline.model.schedules.schedule_spec import ScheduleSpec
from phaseline.store.sqlite.store import SqliteStore


def test_a62_what_is_due_is_found_by_the_index(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "store.db", a.FakeClock())
    number, _ = store.create_deployment(a.deployment())
    store.schedules.add(NewSchedule(number, "nightly", ScheduleSpec("pull", "2026-01-01 00:00:00"), next_at=9), a.ANN)
    reader = store.connections.reader()
    asked: list[str] = []
    reader.set_trace_callback(asked.append)
    assert store.firings.next_at() == 9
    assert len(store.firings.due(9, 5)) == 1
    reader.set_trace_callback(None)
    found = [text for text in asked if "from schedule where" in text]
    plans = [" ".join(row[3] for row in reader.execute(f"explain query plan {text}")) for text in found]
    assert len(plans) == 2
    assert all("schedule_next" in plan for plan in plans), plans
    store.close()
