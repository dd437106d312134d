"""``engine run --until-idle`` where what is open waits for an approval: it ends, and says for what."""

import json

import pytest
from tests.cli.terminal import BLUEPRINT, Terminal

import phaseline

SETTINGS = """
[[hooks.classes]]
name = "four-eyes"
class = "phaseline.policies.approvals:RequireApproval"
options = { requester = true }
"""


@pytest.fixture
def waiting(terminal: Terminal) -> Terminal:
    """An install that nobody runs, and an update of the same deployment behind it."""
    file = terminal.write(BLUEPRINT.replace("hidden: true", "hidden: false"))
    config = terminal.folder / "phaseline.toml"
    config.write_text(SETTINGS)
    terminal.make_store()
    with phaseline.open(terminal.environment["PHASELINE_STORE_URL"], config=str(config)) as opened:
        opened.executions.install(file, "shop", detach=True)
        opened.executions.start("restart", "shop", detach=True)
    return terminal


def test_an_engine_ends_where_all_waits_for_an_approval_and_goes_on_when_it_is_given(waiting: Terminal) -> None:
    ended = waiting.run("engine", "run", "--until-idle")
    assert ended.exit_code == 1, ended.output
    assert "idle; 1 call made" in ended.stdout
    assert "install-1 of 'shop' waits for an approval of plan" in ended.stdout
    assert ": phaseline executions approve install-1 --plan" in ended.stdout
    assert "install-1 needs a person" not in ended.stdout
    assert waiting.calls() == []
    code, told = waiting.ask("engine", "run", "--until-idle")
    assert (code, told["reason"], told["waiting"], told["calls"]) == (1, "idle", ["install-1"], 0)
    (need,) = told["needs"]
    assert waiting.run(*need["mend"].split()[1:]).exit_code == 0
    assert waiting.run("engine", "run", "--until-idle").exit_code == 1, "what was behind it waits for its own approval"
    assert len(waiting.calls()) == 3
    shown = json.loads(waiting.run("executions", "show", "install-1", "--json").stdout)
    assert shown["status"] == "completed"
