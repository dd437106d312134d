"""Words that do not fit a command: the answer says what to type instead."""

import pytest
from tests.cli.terminal import Terminal

from phaseline import __version__
from phaseline.cli.usage_hints import CFY

MISUSED = {
    "uninstall shop": "A deployment is named with -d: phaseline uninstall -d shop",
    "uninstall": "phaseline uninstall -d NAME; see the names with: phaseline deployments list",
    "uninstall blueprint.yaml": "'blueprint.yaml' is a file; name the deployment",
    "plan uninstall shop": "phaseline plan uninstall -d shop",
    "plan uninstall blueprint.yaml": "phaseline plan uninstall -d NAME",
    "plan uninstoll shop": "Did you mean 'uninstall'?",
    "plan instal blueprint.yaml": "Did you mean 'install'?",
    "plan execute_operation shop": "phaseline plan execute_operation -d shop",
    "executions start execute_operation shop": "phaseline executions start execute_operation -d shop",
    "executions start heal": "phaseline executions start heal -d NAME",
    "deployments show -d shop": "Give the name without an option: phaseline deployments show shop",
    "instances list shop": "A deployment is named with -d: phaseline instances list -d shop",
    "executions list shop": "phaseline executions list -d shop",
    "heal -d shop": "it is a workflow. phaseline executions start heal -d NAME",
    "events list": "Instead of this cfy command, type: phaseline executions events ID",
    "executions get install-1": "Instead of this cfy command, type: phaseline executions show ID",
    "blueprints download x": "Instead of this cfy command, type: phaseline blueprints package ID",
    "apply blueprint.yaml": "Type: phaseline install FILE for a new deployment",
    "destroy shop": "Type: phaseline uninstall -d NAME",
    "run install": "Type: phaseline executions start WORKFLOW -d NAME",
    "ls": "Type: phaseline deployments list",
    "executions ls": "Type: phaseline executions list",
    "graph": "Type: phaseline deployments graph NAME; of a file: phaseline blueprints graph FILE",
    "help": "Type: phaseline --help",
    "deployments help": "Type: phaseline deployments --help",
    "install -b shop": "without an option: phaseline install shop",
    "deployments create -b shop": "without an option: phaseline deployments create shop",
    "deployments update office -b shop": "without an option: phaseline deployments update NAME shop",
    "deployments outputs --deployment": "Give the name without an option: phaseline deployments outputs NAME",
}


@pytest.mark.parametrize("words", MISUSED)
def test_d27_who_names_a_deployment_the_wrong_way_is_told_what_to_type(terminal: Terminal, words: str) -> None:
    result = terminal.run(*words.split())
    assert result.exit_code == 2
    assert MISUSED[words] in " ".join(result.stderr.split())


@pytest.mark.parametrize("words", CFY)
def test_what_is_told_of_words_of_the_ancestor_exists_here(terminal: Terminal, words: str) -> None:
    assert terminal.run(*words.split(), "--help").exit_code == 2
    told = CFY[words].partition(",")[0].split()[1:]
    names = [word for word in told if word.islower() and not word.startswith("-")]
    assert terminal.run(*names, "--help").exit_code == 0


def test_the_version_is_told_as_by_every_program(terminal: Terminal) -> None:
    assert terminal.run("--version").stdout.split() == ["phaseline", __version__]


def test_the_number_of_an_execution_is_enough_for_a_hint(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    code, found = terminal.ask("executions", "show", "1")
    assert (code, found["problems"][0]["mend"]) == (1, "correct the id; did you mean 'install-1'?")


def test_the_name_of_a_deployment_is_no_id_of_an_execution_and_that_is_said(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    for verb in ("follow", "show", "retry"):
        code, found = terminal.ask("executions", verb, "shop")
        assert (code, found["problems"][0]["code"]) == (1, "PL-C011")
        assert found["problems"][0]["mend"].endswith("is selected with -d shop")


def test_a_blueprint_that_is_no_file_is_told_as_what_it_is(terminal: Terminal) -> None:
    for name, mend in (("https://example.org/b.yaml", "save it as a file"), ("", "name a file")):
        code, found = terminal.ask("blueprints", "validate", name)
        assert (code, found["problems"][0]["code"]) == (1, "PL-B001")
        assert mend in found["problems"][0]["mend"]


def test_words_that_do_not_fit_are_a_document_too(terminal: Terminal) -> None:
    code, found = terminal.ask("uninstall", "my shop")
    assert (code, found["problems"][0]["code"]) == (2, "PL-C019")
    assert found["problems"][0]["message"].endswith("phaseline uninstall -d 'my shop'")


def test_the_plan_of_an_install_takes_the_name_that_the_install_takes(terminal: Terminal) -> None:
    file = terminal.write()
    assert terminal.run("plan", "install", file, "-d", "shop").exit_code == 0
    assert not terminal.has_store()
    assert terminal.ask("plan", "install", file, "-d", "no name")[1]["problems"][0]["code"] == "PL-C021"
    terminal.run("install", file, "-d", "shop")
    code, found = terminal.ask("plan", "install", file, "-d", "shop")
    assert (code, found["problems"][0]["code"]) == (1, "PL-S010")
    assert terminal.run("plan", "install", file, "-d", "other").exit_code == 0
