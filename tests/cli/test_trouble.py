"""When operations fail: what is told, and what a user decides."""

from typing import Any

from tests.cli.terminal import Terminal


def failed_install(terminal: Terminal, *words: str) -> dict[str, Any]:
    terminal.write()
    terminal.trouble("top")
    code, answer = terminal.ask("install", str(terminal.folder / "blueprint.yaml"), *words)
    assert code == 1
    return answer


def test_every_failed_entry_is_told_with_instance_operation_message_and_cause(terminal: Terminal) -> None:
    answer = failed_install(terminal)
    assert answer["status"] == "failed"
    assert answer["failure_count"] == 2
    failure = answer["failures"][0]
    assert failure["node"] == "top"
    assert failure["operation"] == "cloudify.interfaces.lifecycle.create"
    assert failure["message"] == "top is in trouble"
    assert failure["cause"]["type"] == "NonRecoverableError"


def test_a_failure_is_told_with_what_to_do_next(terminal: Terminal) -> None:
    failed_install(terminal)
    text = terminal.run("executions", "show").stdout
    assert "failed  top_" in text
    assert "top is in trouble" in text
    assert "phaseline executions retry install-1" in text


def test_retry_calls_only_what_failed(terminal: Terminal) -> None:
    failed_install(terminal)
    terminal.trouble("")
    before = len(terminal.calls())
    code, answer = terminal.ask("executions", "retry", "-d", "shop")
    assert (code, answer["id"], answer["status"], answer["attempt"]) == (0, "install-1", "completed", 1)
    assert terminal.calls()[before:] == ["create top", "create top"]


def test_retry_of_one_instance_leaves_the_others(terminal: Terminal) -> None:
    answer = failed_install(terminal)
    terminal.trouble("")
    instance = answer["failures"][0]["instance"]
    code, after = terminal.ask("executions", "retry", "install-1", "--instance", instance)
    assert (code, after["failure_count"]) == (1, 1)


def test_complete_vouches_for_an_operation_and_is_audited(terminal: Terminal) -> None:
    answer = failed_install(terminal)
    for failure in answer["failures"]:
        words = ("--instance", failure["instance"], "--operation", "create", "--reason", "made by hand")
        code, after = terminal.ask("executions", "complete", "install-1", *words)
    assert (code, after["status"]) == (0, "completed")
    events = terminal.ask("executions", "events", "install-1")[1]["events"]
    assert any("made by hand" in event["text"] for event in events)


def test_complete_of_what_needs_none_is_refused(terminal: Terminal) -> None:
    failed_install(terminal)
    base = terminal.ask("instances", "list", "--node", "base")[1]["instances"][0]["id"]
    code, answer = terminal.ask("executions", "complete", "install-1", "--instance", base, "--reason", "x")
    assert (code, answer["problems"][0]["code"]) == (1, "PL-C014")


def test_complete_without_a_reason_is_refused(terminal: Terminal) -> None:
    instance = failed_install(terminal)["failures"][0]["instance"]
    code, answer = terminal.ask("executions", "complete", "install-1", "--instance", instance, "--reason", " ")
    assert (code, answer["problems"][0]["code"]) == (1, "PL-C029")


def test_complete_of_an_operation_that_is_misspelled_says_so_and_suggests(terminal: Terminal) -> None:
    instance = failed_install(terminal)["failures"][0]["instance"]
    words = ("executions", "complete", "install-1", "--instance", instance, "--reason", "x", "--operation")
    code, answer = terminal.ask(*words, "craete")
    (problem,) = answer["problems"]
    assert (code, problem["code"]) == (1, "PL-C027")
    assert "did you mean 'create'?" in problem["mend"]
    (problem,) = terminal.ask(*words, "cloudify.interfaces.lifecycle.creat")[1]["problems"]
    assert "'cloudify.interfaces.lifecycle.create'" in problem["mend"]
    (problem,) = terminal.ask(*words, "zzz")[1]["problems"]
    assert "create" in problem["mend"]


def test_complete_of_operations_that_do_not_fit_says_how_they_stand(terminal: Terminal) -> None:
    failed_install(terminal)
    base = terminal.ask("instances", "list", "--node", "base")[1]["instances"][0]["id"]
    words = ("executions", "complete", "install-1", "--instance", base, "--reason", "x", "--operation", "create")
    (problem,) = terminal.ask(*words)[1]["problems"]
    assert problem["code"] == "PL-C014"
    assert f"create of {base} (completed)" in problem["message"]


def test_a_completed_execution_has_nothing_to_resume_retry_or_cancel(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    for verb in ("resume", "retry", "cancel"):
        code, answer = terminal.ask("executions", verb, "install-1")
        assert (code, answer["problems"][0]["code"]) == (1, "PL-C017"), verb


def test_on_failure_stop_cancels_what_has_not_begun(terminal: Terminal) -> None:
    terminal.write()
    terminal.trouble("base")
    code, answer = terminal.ask("install", "blueprint.yaml", "--on-failure", "stop")
    assert code == 1
    assert terminal.calls() == ["create base"]
    assert answer["failures"][0]["node"] == "base"


def test_uninstall_may_ignore_failures(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    terminal.trouble("delete")
    assert terminal.run("uninstall", "-d", "shop").exit_code == 1
    assert terminal.run("uninstall", "-d", "shop", "--ignore-failure").exit_code == 0
    assert terminal.ask("deployments", "show", "shop")[1]["states"] == {"deleted": 3}


def test_why_tells_a_failed_instance_its_cause_and_the_mending(terminal: Terminal) -> None:
    answer = failed_install(terminal)
    instance = answer["failures"][0]["instance"]
    code, found = terminal.ask("instances", "why", instance)
    assert code == 0
    assert found["reasons"][0]["kind"] == "failed"
    assert "top is in trouble" in found["reasons"][0]["text"]
    assert "executions retry" in terminal.run("instances", "why", instance[:-2]).stdout


def test_w12_events_have_the_console_form_of_the_ancestor(terminal: Terminal) -> None:
    failed_install(terminal)
    lines = terminal.run("executions", "events", "-d", "shop").stdout.splitlines()
    assert lines[0].endswith("CFY <shop> Starting 'install' workflow execution")
    assert any(line.endswith(".create] Creating node instance") for line in lines)
    assert any("Task failed 'made.create' -> top is in trouble" in line for line in lines)
    assert "'install' workflow execution failed" in lines[-1]


def test_logs_are_told_by_instance(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    base = terminal.ask("instances", "list", "--node", "base")[1]["instances"][0]["id"]
    answer = terminal.ask("executions", "logs", "install-1", "--instance", base)[1]
    assert [(line["instance"], line["text"]) for line in answer["lines"]] == [(base, "hello from base")]
    assert "(install-1 of 'shop')" in terminal.run("executions", "logs").stderr


def test_a_name_with_a_broken_character_is_not_there_and_damages_nothing(terminal: Terminal) -> None:
    failed_install(terminal)
    for words in (("show", "a\udcff"), ("list", "-d", "a\udcff")):
        code, found = terminal.ask("executions", *words)
        assert code == 1
        assert found["problems"][0]["code"] in {"PL-C010", "PL-C011", "PL-C012"}
    assert terminal.run("store", "check").exit_code == 0


def test_what_lives_in_memory_cannot_be_detached(terminal: Terminal) -> None:
    file = terminal.write()
    code, found = terminal.ask("--store", "memory:", "install", file, "--detach")
    assert (code, found["problems"][0]["code"]) == (1, "PL-S008")
