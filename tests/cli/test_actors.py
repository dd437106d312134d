"""Who asked for what stands with every execution."""

import getpass
from pathlib import Path

from tests.cli.terminal import Terminal

ME = getpass.getuser()


def mended_install(terminal: Terminal) -> None:
    """An install that failed, was retried in vain, and was vouched for in the end."""
    terminal.write()
    terminal.trouble("top")
    answer = terminal.ask("install", str(terminal.folder / "blueprint.yaml"), "-i", "count=1")[1]
    terminal.run("executions", "retry", "install-1")
    instance = answer["failures"][0]["instance"]
    terminal.run("executions", "complete", "install-1", "--instance", instance, "--reason", "made by hand")


def test_show_tells_who_began_retried_and_completed_it(terminal: Terminal) -> None:
    mended_install(terminal)
    view = terminal.ask("executions", "show", "install-1")[1]
    assert (view["status"], view["created_by"]) == ("completed", ME)
    assert [(decision["what"], decision["actor"]) for decision in view["decisions"]] == [
        ("retry", ME),
        ("complete", ME),
    ]
    assert view["decisions"][1]["details"] == "made by hand"
    text = terminal.run("executions", "show", "install-1").stdout
    assert f"started by {ME}, " in text
    assert f"retry by {ME}, " in text
    assert ": made by hand" in text


def test_events_tell_who_asked(terminal: Terminal) -> None:
    mended_install(terminal)
    events = terminal.ask("executions", "events", "install-1")[1]["events"]
    asked = {event["level"]: event["actor"] for event in events if event["actor"]}
    assert asked["workflow_started"] == ME
    assert asked["retried"] == ME
    assert asked["completed_by_hand"] == ME
    assert f"Retrying what failed (by {ME})" in terminal.run("executions", "events", "install-1").stdout


def test_the_log_of_the_engine_tells_it_too(terminal: Terminal) -> None:
    mended_install(terminal)
    text = Path(terminal.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///") + ".log").read_text("utf-8")
    assert f"install-1 of 'shop' retry requested (by {ME})" in text
    assert f"install-1 of 'shop' calls completed by hand (by {ME})" in text
    assert "1 call of cloudify.interfaces.lifecycle.create failed" in text
    assert "trouble" not in text
    assert text.count("engine started") == text.count("engine stopped") == 3
