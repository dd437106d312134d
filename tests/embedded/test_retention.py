"""An engine of this process removes what is older than the settings say."""

from pathlib import Path

from tests.store import builders as a

from phaseline.app.settings import Settings
from phaseline.app.watcher import NullWatcher
from phaseline.embedded.open_app import open_context
from phaseline.embedded.run_execution import open_engine
from phaseline.model.rows.rows import RequestAnswer, TurnPayload


def test_an_engine_removes_what_is_older_than_its_settings_say(tmp_path: Path) -> None:
    settings = Settings(
        f"sqlite:///{tmp_path}/store.db", retention_executions="1m", log_file=str(tmp_path / "engine.log")
    )
    with open_context(settings, "a test") as ctx:
        store = ctx.app.store
        number, run = a.installed(store)
        with store.own("a test"):
            answers = [RequestAnswer(row.number) for row in store.requests()]
            store.commit(a.turn(payload=TurnPayload(answers=answers)))
        a.end(store, run)
        store.delete_deployment(number)
        with store.own("a test") as lease, open_engine(ctx, lease, NullWatcher()) as engine:
            engine.run(lambda: not store.executions())
            engine.close(0)
    assert "retention removed old data (executions 1, requests 1)" in (tmp_path / "engine.log").read_text()
