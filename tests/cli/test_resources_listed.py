"""``resources list`` of many: rows are made by stay, and say what ``resources show`` says of each."""

import time
from pathlib import Path

import pytest
from tests.cli.clusters import applied, plugins, record, worked
from tests.cli.terminal import Terminal

from phaseline.app.settings import load_settings
from phaseline.embedded.open_app import open_context
from phaseline.use_cases.queries.resources.resources import list_resources, show_resource
from phaseline.use_cases.queries.resources.selection import ResourceSelector

MANY = 3_000
MOST_S_A_ROW = 100e-6
"""Far above what a row takes (15 µs of CPU), far below what it took (4 ms after a retry of all)."""


def test_each_row_of_a_list_says_what_show_says_of_its_resource(terminal: Terminal, tmp_path: Path) -> None:
    plugins(terminal)
    waits = (terminal.folder / "phases" / "attach.cfg", "Phase.Dependencies = Acme.Create")
    waits[0].write_text(f"HandlesStates = Allocation\nResourceType = Cloud.Node\nPhaseName = Acme.Attach\n{waits[1]}\n")
    (terminal.folder / "phases" / "attach.py").write_text("def handle(handler):\n    pass\n")
    applied(terminal, *(record(f"n{at}", **_how(at)) for at in range(12)), record("still", target=""))
    worked(terminal)
    assert terminal.run("resources", "retry", "n1").exit_code == 0
    worked(terminal)
    assert terminal.run("resources", "cancel", "n2").exit_code == 0
    assert terminal.run("resources", "target", "Terminated", "n3").exit_code == 0
    worked(terminal)
    applied(terminal, record("late"), name="late.rec")
    with open_context(load_settings(environment=terminal.environment, folder=terminal.folder), "a test") as ctx:
        rows = list_resources(ctx, ResourceSelector()).resources
        assert len(rows) == 14
        for row in rows:
            one = show_resource(ctx, row.name)
            assert (row.type, row.state, row.target, row.status) == (one.type, one.state, one.target, one.status)
            kept = [entry for entry in one.entries if entry.is_active]
            assert list(row.entries) == kept
    assert {row.status for row in rows} >= {"Failed", "Canceled", "Acquiring", "Off"}


def _how(at: int) -> dict[str, object]:
    return [{}, {"Trouble": f"no quota for {at}"}, {"Sleeps": 5}][at % 3]


@pytest.mark.alone
def test_a_row_of_a_list_takes_microseconds_also_after_a_retry_of_all(terminal: Terminal) -> None:
    plugins(terminal)
    applied(terminal, *(record(f"n{at}", Trouble="no quota") for at in range(MANY)))
    worked(terminal)
    assert terminal.run("resources", "retry", "--all").exit_code == 0
    worked(terminal)
    with open_context(load_settings(environment=terminal.environment, folder=terminal.folder), "a test") as ctx:
        list_resources(ctx, ResourceSelector(), limit=1)
        begun = time.process_time()
        list_resources(ctx, ResourceSelector(), limit=1)
        one = time.process_time() - begun
        assert len(list_resources(ctx, ResourceSelector()).resources) == MANY
        all_of_them = time.process_time() - begun - one
    assert all_of_them - one < MANY * MOST_S_A_ROW
