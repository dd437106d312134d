"""A standby has loaded what an engine needs."""

import sys
from pathlib import Path

from tests.use_cases.commands.test_submission import ctx

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import Settings
from phaseline.embedded.open_app import open_context
from phaseline.embedded.warm_standby import MODULES, warm_up

__all__ = ["ctx"]


def test_ha5_a_stand_by_has_imported_what_an_engine_imports(ctx: RequestContext) -> None:
    warm_up(ctx)
    assert not [name for name in MODULES if name not in sys.modules]


def test_ha5_plugins_that_cannot_be_read_keep_no_stand_by_from_waiting(tmp_path: Path) -> None:
    settings = Settings(f"sqlite:///{tmp_path}/store.db", plugin_folders=(str(tmp_path / "nowhere"),))
    with open_context(settings, "a test") as found:
        warm_up(found)
