"""``engine run --until-idle`` where what is open waits for phases that a person must open or mend."""

import pytest
from tests.cli.clusters import applied, plugins, record
from tests.cli.terminal import Terminal


def idle(terminal: Terminal) -> str:
    result = terminal.run("engine", "run", "--until-idle")
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("way", ["paused", "missing"])
def test_p94_an_engine_ends_though_resources_wait_for_a_phase(terminal: Terminal, way: str) -> None:
    folder = plugins(terminal)
    applied(terminal, record("n1"))
    if way == "paused":
        assert terminal.run("phases", "pause", "Acme.Create", "--reason", "an outage").exit_code == 0
    else:
        assert terminal.run("phases", "pause", "Acme.Create", "--reason", "until it is there").exit_code == 0
        idle(terminal)
        assert terminal.run("phases", "unpause", "Acme.Create").exit_code == 0
        (folder / "create.cfg").rename(folder / "create.off")
    assert "idle; 0 calls made" in idle(terminal)
    assert "Started  Ready" not in terminal.run("resources", "list").stdout
    if way == "paused":
        assert terminal.run("phases", "unpause", "Acme.Create").exit_code == 0
    else:
        (folder / "create.off").rename(folder / "create.cfg")
    assert "idle; 1 call made" in idle(terminal)
