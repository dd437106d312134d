"""Packages that come and go beside a running engine: what it runs next has their files of now, and no one else's."""

from pathlib import Path

import pytest
from tests.cli.test_packages_in_use import BLUEPRINT, acme
from tests.processes.shells import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def ok(shell: Shell, *words: str) -> None:
    done = shell.run(*words)
    assert done.returncode == 0, done.stdout + done.stderr


def test_f37_an_engine_that_runs_calls_the_code_of_the_update(shell: Shell) -> None:
    (shell.folder / "blueprint.yaml").write_text(BLUEPRINT)
    with shell.start("engine", "run") as engine:
        try:
            shell.until(lambda: shell.run("engine", "status").stdout.startswith("Process"))
            ok(shell, "plugins", "install", acme(shell.folder))
            ok(shell, "install", "blueprint.yaml", "-d", "shop")
            assert shell.ask("deployments", "outputs", "shop")["outputs"] == {"made_by": "1.0.0"}
            ok(shell, "plugins", "update", acme(shell.folder, "1.0.1"))
            ok(shell, "uninstall", "-d", "shop")
            ok(shell, "executions", "start", "install", "-d", "shop")
            assert shell.ask("deployments", "outputs", "shop")["outputs"] == {"made_by": "1.0.1"}
            found = shell.ask("plugins", "reload")
            assert (found["pid"], found["phases"]) == (engine.pid, 1), "its phases are in force, too"
        finally:
            engine.terminate()
