"""Ten thousand resources that wait for their cloud cost an idle engine next to nothing (P93), in a real process."""

from pathlib import Path

import pytest
from tests.cli.clusters import record
from tests.processes.shells import PATIENCE_S, Shell, one_is_within
from tests.processes.test_crowd import share_of_a_core

SLEEPERS = 10_000
WAIT = "HandlesStates = Allocation\nResourceType = Cloud.Node\nPhaseName = Acme.Wait\nPhase.SleepDelay = 3600\n"
CODE = "def handle(handler):\n    pass\n"
"""Nobody is marked: all of them sleep (P19)."""


class PhaseShell(Shell):
    """A shell whose settings name the folder of the plugins."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "PHASELINE_PLUGINS_PATH": str(self.folder / "phases")}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "phases").mkdir()
    (tmp_path / "phases" / "wait.cfg").write_text(WAIT)
    (tmp_path / "phases" / "wait.py").write_text(CODE)
    (tmp_path / "nodes.rec").write_text("\n".join(record(f"n{number}") for number in range(SLEEPERS)))
    return PhaseShell(tmp_path)


@pytest.mark.alone
@pytest.mark.slow
def test_p93_ten_thousand_sleeping_resources_use_less_than_a_hundredth_of_a_core(shell: Shell) -> None:
    assert shell.run("resources", "apply", "nodes.rec", "-d", "night").returncode == 0
    with shell.start("engine", "run") as engine:
        shell.until(lambda: shell.ask("phases", "show", "Acme.Wait")["now"]["counts"].get("Sleeping") == SLEEPERS)
        one_is_within(0.01, lambda _: share_of_a_core(engine.pid))
        engine.terminate()
        assert engine.wait(PATIENCE_S) == 0
