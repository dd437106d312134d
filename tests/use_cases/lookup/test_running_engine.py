"""Whether an engine runs, and asking it to reload."""

from pathlib import Path

import phaseline
from phaseline.use_cases.lookup.running_engine import RunningEngine, engine_now, request_reload


def test_where_nobody_owns_the_store_no_engine_is_there_and_nothing_is_asked(tmp_path: Path) -> None:
    with phaseline.open(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        assert engine_now(opened.ctx) == RunningEngine(0)
        assert not engine_now(opened.ctx).is_there
        request_reload(opened.ctx)
        assert not opened.ctx.store.requests()
