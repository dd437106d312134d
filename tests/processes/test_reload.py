"""A running engine reads its phase plugins anew when it is asked to, and keeps the version before of what is refused."""

from pathlib import Path

import pytest
from tests.catalog.phases.plugin_files import write_pair
from tests.processes.shells import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_p94_p95_an_engine_reads_its_plugins_anew(shell: Shell) -> None:
    acme = shell.folder / "acme"
    file = write_pair(acme, "create")
    (shell.folder / "phaseline.toml").write_text('[plugins]\npath = ["acme"]\n')
    with shell.start("engine", "run") as engine:
        try:
            shell.until(lambda: shell.run("engine", "status").stdout.startswith("Process"))
            found = shell.ask("plugins", "reload")
            assert (found["pid"], found["phases"], found["problems"]) == (engine.pid, 1, [])
            write_pair(acme, "create", code="import nothing_of_the_kind\ndef handle(handler): ...\n")
            done = shell.run("plugins", "reload")
            assert done.returncode == 1
            assert "PL-D005" in done.stdout
            assert "the previous version stays in use" in done.stdout
            assert "1 phase can be used" in done.stdout
            write_pair(acme, "create", {"HandlesStates": "Allocatoin"})
            assert shell.run("plugins", "reload").returncode == 1
            (phase,) = shell.ask("phases", "list")
            assert (phase["is_invalid"], phase["obstacles"]) == (False, [])
            assert "keeps the former version" in phase["note"]
            write_pair(acme, "create", code="raise RuntimeError(7)\ndef handle(handler): ...\n")
            assert "RuntimeError: 7" in shell.run("plugins", "reload").stdout
            file.unlink()
            done = shell.run("plugins", "reload")
            assert "Acme.Create: its plugin was removed" in done.stdout
            write_pair(acme, "create")
            assert shell.run("plugins", "reload").returncode == 0
        finally:
            engine.terminate()
