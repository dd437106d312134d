"""What is stuck, over all deployments: told by age, like things together, with the command that helps."""

from pathlib import Path

from tests.cli.terminal import Terminal


def failed_install(terminal: Terminal, name: str, nodes: str = "top") -> None:
    terminal.write()
    terminal.trouble(nodes)
    assert terminal.run("install", str(terminal.folder / "blueprint.yaml"), "-d", name).exit_code == 1


def test_where_nothing_is_stuck_it_says_so(terminal: Terminal) -> None:
    terminal.make_store()
    assert terminal.run("instances", "stuck").stdout == "Nothing is stuck.\n"
    terminal.run("install", terminal.write())
    assert terminal.run("instances", "why").stdout == "Nothing is stuck.\n"
    assert terminal.ask("instances", "stuck") == (0, {"stuck": [], "total": 0})


def test_the_same_failure_in_two_deployments_is_told_once_with_its_count(terminal: Terminal) -> None:
    failed_install(terminal, "one")
    failed_install(terminal, "two")
    (stuck,) = terminal.ask("instances", "stuck")[1]["stuck"]
    assert (stuck["kind"], stuck["count"], stuck["message"]) == ("failed", 4, "top is in trouble")
    assert (stuck["deployments"], stuck["executions"]) == (["one", "two"], ["install-1", "install-2"])
    assert stuck["since_at"]
    text = terminal.run("instances", "why").stdout
    assert "failed  4 × create for" in text
    assert text.rstrip().endswith("    phaseline executions retry install-1\n    phaseline executions retry install-2")


def test_what_waits_for_a_failure_is_told_beside_it(terminal: Terminal) -> None:
    failed_install(terminal, "shop", "base")
    failed, waiting = terminal.ask("instances", "stuck", "-d", "shop")[1]["stuck"]
    assert (failed["kind"], failed["count"]) == ("failed", 1)
    assert (waiting["kind"], waiting["count"]) == ("waiting", 2)
    assert "install-1" in waiting["message"]


def test_what_was_mended_or_forgotten_is_not_stuck(terminal: Terminal) -> None:
    failed_install(terminal, "one")
    failed_install(terminal, "two")
    terminal.trouble("")
    terminal.run("executions", "retry", "install-1")
    assert terminal.ask("instances", "stuck")[1]["stuck"][0]["deployments"] == ["two"]
    terminal.run("deployments", "delete", "two", "--force")
    assert terminal.ask("instances", "stuck")[1]["total"] == 0


def test_one_deployment_may_be_asked_for(terminal: Terminal) -> None:
    failed_install(terminal, "one")
    failed_install(terminal, "two", "base")
    assert terminal.ask("instances", "stuck", "-d", "one")[1]["total"] == 1
    assert terminal.ask("instances", "why", "-d", "none")[1]["problems"][0]["code"] == "PL-C010"


def test_the_page_of_commands_knows_both(terminal: Terminal) -> None:
    page = Path(__file__).resolve().parents[2] / "docs/cli.md"
    assert "phaseline instances stuck" in page.read_text("utf-8")
