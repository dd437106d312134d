"""The way of a user: validate, plan, install, look, uninstall, forget."""

import shlex

from tests.cli.terminal import BLUEPRINT, Terminal


def test_install_runs_everything_and_says_so(terminal: Terminal) -> None:
    result = terminal.run("install", terminal.write())
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("install-1 of 'shop': completed")
    assert "install-1 of 'shop' runs" in result.stderr
    assert terminal.calls()[0] == "create base"
    assert sorted(terminal.calls()[1:]) == ["create top", "create top"]


def test_install_answers_one_document_with_json(terminal: Terminal) -> None:
    code, answer = terminal.ask("install", terminal.write(), "-d", "mine")
    assert code == 0
    assert (answer["id"], answer["status"], answer["deployment"]) == ("install-1", "completed", "mine")
    assert answer["failures"] == []


def test_inputs_are_typed_as_yaml_and_win_over_files_in_order(terminal: Terminal) -> None:
    file = terminal.write()
    (terminal.folder / "a.yaml").write_text("count: 1\nword: a")
    (terminal.folder / "b.yaml").write_text("word: b")
    terminal.run("install", file, "--inputs", "a.yaml", "--inputs", "b.yaml", "-i", "count=3")
    _, shown = terminal.ask("deployments", "show", "shop")
    assert shown["inputs"] == {"count": 3, "word": "b", "secret": "(hidden)"}
    assert shown["nodes"] == {"base": 1, "top": 3}


def test_outputs_are_computed_from_what_instances_know_now(terminal: Terminal) -> None:
    terminal.run("install", terminal.write(), "-i", "word=welcome")
    assert terminal.run("deployments", "outputs", "shop").stdout == "said: welcome\n"
    assert terminal.ask("deployments", "outputs", "shop")[1]["outputs"] == {"said": "welcome"}


def test_w23_uninstall_keeps_the_record_and_its_runtime_properties(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    assert terminal.run("uninstall", "-d", "shop").exit_code == 0
    _, shown = terminal.ask("deployments", "show", "shop")
    assert shown["states"] == {"deleted": 3}
    assert shown["status"] == "not_installed"
    assert terminal.ask("deployments", "outputs", "shop")[1]["outputs"] == {"said": "hello"}
    assert terminal.calls()[-1] == "delete base"


def test_a_deployment_of_which_nothing_is_installed_is_replaced(terminal: Terminal) -> None:
    file = terminal.write()
    terminal.run("install", file)
    terminal.run("uninstall", "-d", "shop")
    code, answer = terminal.ask("install", file, "-i", "count=5")
    assert (code, answer["status"]) == (0, "completed")
    assert terminal.ask("deployments", "show", "shop")[1]["instance_count"] == 6


def test_a_living_deployment_is_not_replaced(terminal: Terminal) -> None:
    file = terminal.write()
    terminal.run("install", file)
    code, answer = terminal.ask("install", file)
    assert code == 1
    assert answer["problems"][0]["code"] == "PL-S010"
    assert "uninstall -d shop" in answer["problems"][0]["mend"]
    assert terminal.ask("executions", "list")[1]["total"] == 1


def test_delete_refuses_while_instances_live_unless_forced(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    code, answer = terminal.ask("deployments", "delete", "shop")
    assert (code, answer["problems"][0]["code"]) == (1, "PL-C015")
    assert terminal.run("deployments", "delete", "shop", "--force").exit_code == 0
    assert terminal.ask("deployments", "list")[1] == {"deployments": [], "total": 0}


def test_executions_of_a_forgotten_deployment_stay_readable(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    terminal.run("deployments", "delete", "shop", "--force")
    assert terminal.run("executions", "show", "install-1").exit_code == 0
    assert "workflow execution succeeded" in terminal.run("executions", "events", "install-1").stdout
    assert terminal.run("executions", "logs", "install-1").exit_code == 0
    code, answer = terminal.ask("executions", "retry", "install-1")
    assert (code, answer["problems"][0]["code"]) == (1, "PL-C010")


def test_failures_of_a_forgotten_deployment_stay_readable(terminal: Terminal) -> None:
    file = terminal.write()
    terminal.trouble("base")
    terminal.run("install", file)
    terminal.run("deployments", "delete", "shop", "--force")
    code, answer = terminal.ask("executions", "show", "install-1")
    assert (code, answer["failures"][0]["node"]) == (0, "base")


def test_plan_install_calls_and_stores_nothing(terminal: Terminal) -> None:
    result = terminal.run("plan", "install", terminal.write())
    assert result.exit_code == 0
    assert "+ top  Thing × 2" in result.stdout
    assert terminal.calls() == []
    assert not terminal.has_store()


def test_plan_uninstall_says_what_is_there_to_do(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    assert "- base  Thing × 1" in terminal.run("plan", "uninstall", "-d", "shop").stdout
    terminal.run("uninstall", "-d", "shop")
    assert terminal.run("plan", "uninstall", "-d", "shop").exit_code == 0


def test_plan_is_a_document_with_json(terminal: Terminal) -> None:
    _, answer = terminal.ask("plan", "install", terminal.write())
    assert [node["name"] for node in answer["nodes"]] == ["base", "top"]
    assert answer["calls"] == 3


def test_validate_names_what_is_in_the_blueprint(terminal: Terminal) -> None:
    code, answer = terminal.ask("blueprints", "validate", terminal.write())
    assert code == 0
    assert (answer["nodes"], answer["inputs"]) == (2, ["count", "word", "secret"])


def test_every_problem_of_a_blueprint_is_told_and_nothing_stored(terminal: Terminal) -> None:
    file = terminal.write(BLUEPRINT.replace("type: Thing}", "type: Thnig}").replace("target: base", "target: bsae"))
    code, answer = terminal.ask("install", file)
    assert code == 1
    assert answer["total"] >= 2
    assert all(problem["line"] and problem["mend"] for problem in answer["problems"])
    text = terminal.run("install", file).stderr
    assert "blueprint.yaml:" in text
    assert "^" in text
    assert not terminal.has_store()


def test_wrong_inputs_are_told_at_once_and_nothing_stored(terminal: Terminal) -> None:
    code, answer = terminal.ask("install", terminal.write(), "-i", "cuont=1", "-i", "wrod=x")
    assert (code, answer["total"]) == (1, 2)
    assert "count" in answer["problems"][0]["mend"]
    assert not terminal.has_store()


def test_init_writes_a_blueprint_that_installs(terminal: Terminal) -> None:
    _, made = terminal.ask("init", "hello")
    assert len(made["next"]) == 4
    code, answer = terminal.ask("install", "hello/blueprint.yaml", "-i", "guests=4")
    assert (code, answer["status"], answer["deployment"]) == (0, "completed", "hello")
    assert terminal.run("deployments", "outputs", "hello").stdout.startswith("door: ")
    assert terminal.run("uninstall", "-d", "hello").exit_code == 0


def test_what_init_tells_to_type_next_can_be_typed(terminal: Terminal) -> None:
    for folder in ("my shop", "2026"):
        for words in terminal.ask("init", folder)[1]["next"][:2]:
            assert terminal.run(*shlex.split(words)[1:]).exit_code == 0, words


def test_init_overwrites_nothing(terminal: Terminal) -> None:
    terminal.write()
    code, answer = terminal.ask("init", ".")
    assert (code, answer["problems"][0]["code"]) == (1, "PL-C022")
