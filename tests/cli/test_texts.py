"""What people read: each kind of answer as text."""

from tests.cli.terminal import Terminal

from phaseline.cli.render.executions import event_text, execution_text
from phaseline.model.graph.status import ExecutionStatus
from phaseline.views.views import ExecutionView, Failure, Line


def test_a_deployment_is_told_with_inputs_and_nodes(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    text = terminal.run("deployments", "show", "shop").stdout
    assert text.startswith("shop: good\n")
    assert "    count: 2\n" in text
    assert "    secret: (hidden)\n" in text
    assert "    top: 2 instances\n" in text
    assert "latest      install-1 (completed)" in text
    assert "shop  good    3 started" in terminal.run("deployments", "list").stdout


def test_an_instance_is_told_with_properties_and_relationships(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    top = terminal.ask("instances", "list", "--node", "top")[1]["instances"][0]["id"]
    text = terminal.run("instances", "show", top).stdout
    assert text.startswith(f"{top}: started\n")
    assert "cloudify.relationships.depends_on -> base_" in text
    assert "    said: hello" in text
    assert "waits for nothing" in terminal.run("instances", "why", top).stdout


def test_executions_are_listed_the_latest_first(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    terminal.run("uninstall", "-d", "shop")
    lines = terminal.run("executions", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["ID", "uninstall-2", "install-1"]
    assert "1 of 2 shown" in terminal.run("executions", "list", "--limit", "1").stdout


def test_logs_are_told_with_time_level_and_instance(terminal: Terminal) -> None:
    terminal.run("install", terminal.write(), "-i", r'word="\e[31mred"')
    lines = terminal.run("executions", "logs", "install-1").stdout.splitlines()
    assert "INFO    [base_" in lines[0]
    assert "\x1b" not in lines[0]
    assert lines[0].endswith("[31mred from base")


def test_a_valid_blueprint_is_told_in_one_line(terminal: Terminal) -> None:
    text = terminal.run("blueprints", "validate", terminal.write()).stdout
    assert text.endswith("is valid: cloudify_dsl_1_3, 2 nodes, inputs: count, word, secret\n")


def test_a_blueprint_without_outputs_says_so(terminal: Terminal) -> None:
    from tests.cli.terminal import BLUEPRINT

    terminal.run("install", terminal.write(BLUEPRINT.partition("outputs:")[0]))
    assert terminal.run("deployments", "outputs", "shop").stdout == "The blueprint of 'shop' has no outputs.\n"


def test_many_failures_that_say_the_same_are_told_as_one(terminal: Terminal) -> None:
    terminal.write()
    terminal.trouble("top")
    result = terminal.run("install", "blueprint.yaml", "-i", "count=30")
    assert "failed  30 × cloudify.interfaces.lifecycle.create (made.create)\n      top is in trouble\n" in result.stdout
    assert "and 25 more\n" in result.stdout
    assert terminal.ask("executions", "show")[1]["failure_count"] == 30


def test_p111_other_failures_are_counted_after_the_first_twenty() -> None:
    words = [f"{first}{second} is full" for first in "abcdef" for second in "uvwxyz"]
    failures = [
        Failure(f"i{at}", "node", "", "create", "failed", word, None, 0, 1, at) for at, word in enumerate(words)
    ]
    status = ExecutionStatus.FAILED
    view = ExecutionView("install-1", "install", "shop", status, "", 0, 1, 1, 2, "ann", {}, failures, len(failures))
    told = execution_text(view)
    assert told.count("is full") == 20
    assert "and 16 more; all of them: add --json" in told


def test_a_refusal_of_several_problems_is_told_a_line_each_and_in_one_line_where_there_is_one() -> None:
    reason = "PL-F069 node_roles.yaml: 4 instances\nPL-F069 node_roles.yaml: 5 instances"
    view = ExecutionView("scale-1", "scale", "shop", ExecutionStatus.FAILED, reason, 0, 1, 1, 2, "ann", {}, (), 0)
    assert execution_text(view).splitlines()[1:3] == [f"  {line}" for line in reason.splitlines()]
    line = Line(0, "workflow_failed", "shop", "", "", f"failed: {reason}")
    assert event_text([line]).endswith(
        "<shop> failed: PL-F069 node_roles.yaml: 4 instances; PL-F069 node_roles.yaml: 5 instances"
    )


def test_nothing_to_do_is_said(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    terminal.run("uninstall", "-d", "shop")
    assert terminal.run("plan", "uninstall", "-d", "shop").stdout.startswith("uninstall: ")
    result = terminal.run("uninstall", "-d", "shop")
    assert (result.exit_code, "completed" in result.stdout) == (0, True)
    assert terminal.calls().count("delete base") == 1


def test_the_version_is_said(terminal: Terminal) -> None:
    assert terminal.run("version").stdout.startswith("phaseline ")
    assert set(terminal.ask("version")[1]) == {"phaseline", "python"}
