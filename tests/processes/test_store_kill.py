"""A process that writes is killed at random moments: every turn is there whole or not at all, and none that was reported is lost."""

import os
import random
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.started import Process
from tests.store.builders import FakeClock, deployment, execution

from phaseline.store.sqlite.store import SqliteStore

ROOT = Path(__file__).parents[2]
ROUNDS = 12

WRITER = """if True:
    import sys
    from phaseline.model.rows.rows import DocumentChange, EventRow, LogLine, TurnPayload
    from phaseline.store.sqlite.store import SqliteStore
    from tests.store import builders as a
    store = SqliteStore.open(sys.argv[1], a.FakeClock())
    with store.own("the writer"):
        graph, batch = store.counters()
        number = 0
        while True:
            number += 1
            store.commit(
                a.turn(
                    graphs=(a.added(graph, 1, a.graph(400, 3)),),
                    pages=tuple(a.page(graph, page, 6, 1_000 - page * 800) for page in range(2)),
                    opened=(a.batch(batch, 1, a.numbers(*range(50)), graph=graph),),
                    closed=(a.closed(batch - 1, *[1] * 50),),
                    states=(a.entered(1, (graph % 12,), *range(3_003)),),
                    payload=TurnPayload(
                        documents=[DocumentChange(1, at, {("graph",): graph}) for at in range(0, 3_000, 30)],
                        logs=[LogLine(1, 1, "info", str(graph))],
                        events=[EventRow(1, 1, "turn", str(graph))],
                    ),
                )
            )
            print(graph, flush=True)
            graph, batch = graph + 1, batch + 1
"""


def killed_writer(path: Path, lives_s: float) -> int:
    """The last turn that a writer reported before it was killed; 0 for none."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    command = [sys.executable, "-c", WRITER, str(path)]
    with Process(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        until = time.monotonic() + lives_s
        while time.monotonic() < until:
            pass
        process.kill()
        lines = [first, *process.stdout.read().splitlines(keepends=True)]
    return max((int(line) for line in lines if line.endswith("\n")), default=0)


def assert_whole(store: SqliteStore, reported: int) -> None:
    """The last turn is the reported one or the next, and all of its parts are there."""
    last = store.counters()[0] - 1
    assert last in {reported, reported + 1}
    assert store.statuses(last).tolist() == [6] * 1_200
    assert len(store.graph(last)) == 1_200
    assert [row.id for row in store.graphs(1)] == list(range(1, last + 1))
    assert [row.id for row in store.batches(only_open=True)] == [last]
    assert store.states(1).tolist() == [last % 12] * 3_003
    assert store.documents(1) == {at: {"graph": last} for at in range(0, 3_000, 30)}
    assert [line.text for line in store.logs(1, after=last - 3)][-1] == str(last)
    assert len(store.logs(1, limit=10**6)) == len(store.events(1, limit=10**6)) == last


@pytest.mark.kill
def test_a_killed_writer_leaves_whole_turns_and_loses_none(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore.open(path, FakeClock())) as store:
        store.create_deployment(deployment(hosts=3, apps=1_000), execution())
    chance = random.Random(7)
    for _ in range(ROUNDS):
        reported = killed_writer(path, chance.uniform(0, 0.25))
        with closing(SqliteStore.open(path, FakeClock())) as store:
            assert_whole(store, reported)
            with store.own("the next"):
                pass
