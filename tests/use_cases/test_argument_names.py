"""Arguments of the Python interface are called as the options of the commands; names of before are taken, with a warning."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path

import click
import pytest

import phaseline
from phaseline.cli.command_tree import root
from phaseline.cli.reference_docs import walk
from phaseline.client.argument_checks import RENAMED, SPLIT, arguments_of
from phaseline.client.client import Client, NounOf

COMMANDS = {
    path.removeprefix("phaseline "): command
    for path, command in walk(root, "phaseline")
    if not isinstance(command, click.Group)
}
ELSEWHERE = {
    "blueprints.merge": "blueprints plan",
    "blueprints.plan": "plan install",
    "deployments.compute": "deployments outputs",
    "executions.event_pages": "executions events",
    "executions.stream_events": "executions events",
    "executions.stream_logs": "executions logs",
    "executions.watch": "executions follow",
    "plans.adopt": "plan adopt",
    "plans.uninstall": "plan uninstall",
    "plugins.remove_any": "plugins remove",
    "plugins.show_any": "plugins show",
    "plugins.try_function": "plugins try",
    "store.go_on": "store restore",
    "deployments.abandon": "abandon",
    "deployments.adopt": "adopt",
    "deployments.export": "export",
    "executions.install": "install",
    "executions.uninstall": "uninstall",
    "plans.make": "plan execute_operation",
    "plans.update": "plan update",
    "plugins.disable": "deployments plugins disable",
    "plugins.enable": "deployments plugins enable",
    "plugins.enabled": "deployments plugins list",
    "plugins.install_definitions": "plugins install",
    "plugins.packages": "plugins list",
    "plugins.remove_definitions": "plugins remove",
    "plugins.show_package": "plugins show",
    "snapshots.plan_restore": "plan restore",
    "snapshots.restore": "restore",
}
"""{method: its command, where that has other words}"""
NO_COMMAND = {
    "breakpoints.kept": "'breakpoints list' shows both",
    "completion.names": "the shell asks for them while a command is typed",
    "deployments.find": "asked before a question whether something is to be removed",
    "executions.is_built_in": "asked where somebody took a workflow for a command",
    "executions.tail": "--verbose of a command that runs something",
    "status.close": "a command closes what it opened",
}
OF_THE_COMMAND = {
    "json": "programs get values",
    "watch": "programs call again",
    "follow": "executions.follow gives lines as they come",
    "yes": "programs are not asked",
    "exit_code": "programs look at Planned.is_empty",
    "format": "programs get values",
    "preview": "plans.update and snapshots.plan_restore give the plan",
    "output": "programs write what they get",
}
"""{option that is about the terminal: why programs need none}"""
OF_THE_PROGRAM = {"watcher": "what a program hears meanwhile"}
"""{argument without an option: why}"""
SAME = {
    "attribute": "attributes",
    "record": "records",
    "break": "breakpoints",
    "deployment": "deployments",
    "from_group": "from_groups",
    "input": "inputs",
    "instance": "instances",
    "label": "labels",
    "operation": "operations",
    "param": "parameters",
    "parameter": "parameters",
    "params": "parameters",
    "phase": "phases",
    "weekday": "weekdays",
}
"""{option that is repeated: the argument that takes all of them; files of them are read by the program}"""
WITH_THE_STORE = "folders of plugins are given to phaseline.open"
OF_A_DEPLOYMENT = "of a deployment that there is: plans.make"
DIFFERENT: Mapping[str, Mapping[str, str]] = {
    "blueprints.plan": {
        "params": OF_A_DEPLOYMENT,
        "parameter": OF_A_DEPLOYMENT,
        "allow_custom_parameters": OF_A_DEPLOYMENT,
        "force": OF_A_DEPLOYMENT,
        "save": OF_A_DEPLOYMENT,
    },
    "breakpoints.add": {"cluster": "the first argument names a deployment or a cluster"},
    "breakpoints.clear": {"cluster": "deployment= takes the name of a cluster, too"},
    "breakpoints.list": {"cluster": "the argument takes the name of a cluster, too"},
    "breakpoints.remove": {"cluster": "the first argument names a deployment or a cluster"},
    "executions.events": {"all": "limit=None"},
    "executions.event_pages": {"all": "limit=None"},
    "executions.logs": {"all": "limit=None"},
    "executions.stream_events": dict.fromkeys(("all", "limit"), "an argument of each look: LineStream.new"),
    "executions.stream_logs": dict.fromkeys(("all", "limit"), "an argument of each look: LineStream.new"),
    "init": {"words": "folder, and kind"},
    "store.go_on": {"file": "store.restore", "go_on": "it is the method"},
    "store.restore": {"go_on": "store.go_on"},
    "instances.why": {"limit": "of the list that is shown without an id: instances.stuck"},
    "plugins.disable": {"name": "of the deployment: it is 'deployment' where the noun is another one"},
    "plugins.enable": {"name": "of the deployment: it is 'deployment' where the noun is another one"},
    "plugins.enabled": {"name": "of the deployment: it is 'deployment' where the noun is another one"},
    "plugins.install": {
        "definition_only": "plugins.install_definitions",
        "name": "plugins.install_definitions",
        "version": "plugins.install_definitions",
    },
    "plugins.install_definitions": {
        "definition_only": "it is the method",
        "force": "plugins.install",
        "allow_downgrade": "plugins.install",
    },
    "plugins.packages": {"plugins": WITH_THE_STORE},
    "plugins.remove": {"version": "plugins.remove_definitions"},
    "plugins.show_package": {"plugins": WITH_THE_STORE},
    "resources.apply": {"records": "files of records are beside it"},
    "secrets.create": {"file": "programs read files themselves"},
    "secrets.update": {"file": "programs read files themselves"},
    "snapshots.plan_restore": {"snapshot": "it is the noun's own 'name'"},
    "snapshots.restore": {"snapshot": "it is the noun's own 'name'"},
}
"""{method: {word of the command that it takes under no such name, or argument without a word: the reason}}"""

RUN_PREVIEWED = dict.fromkeys(
    ("task_retries", "on_failure", "stop_after", "if_busy", "timeout", "subgraph_retries"),
    "of the command that does it, with --preview",
)
OTHERWISE: Mapping[str, Mapping[str, str]] = {
    "engine.run": {
        "awaits_approvals": "an option that only our own processes give",
        "begun": "the command stops it by a signal",
        "say": "the command prints it",
    },
    "init": {"folder": "the command takes words in any order", "kind": "the command takes words in any order"},
    "plans.update": {**RUN_PREVIEWED, "allowed_only": "the question before an update"},
    "plugins.install_definitions": {"told": "the command prints it"},
    "plans.make": {"workflow": "the command has its name"},
    "plugins.disable": {"deployment": "'name' where the noun of the command is deployments"},
    "plugins.enable": {"deployment": "'name' where the noun of the command is deployments"},
    "plugins.enabled": {"deployment": "'name' where the noun of the command is deployments"},
    "snapshots.plan_restore": {**RUN_PREVIEWED, "name": "'snapshot' where the command has no noun"},
    "snapshots.restore": {"name": "'snapshot' where the command has no noun"},
}
"""{method: {argument that its command has under another name: the reason}}"""


def methods() -> Mapping[str, Callable[..., object]]:
    """Every public method that programs reach, by noun and name."""
    nouns = {name: value.kind for name, value in vars(Client).items() if isinstance(value, NounOf)}
    found = {
        f"{noun}.{name}": method
        for noun, kind in nouns.items()
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }
    return {**found, "status": Client.status, "doctor": Client.doctor, "init": Client.init}


METHODS = methods()


def command_of(method: str) -> str:
    """The command that says the same."""
    return ELSEWHERE.get(method, method.replace(".", " ").replace("_", "-"))


def words_of(command: click.Command) -> list[str]:
    """Its arguments and long options, as Python would write them; what is hidden is said by our own processes alone."""
    found = []
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            found.append(parameter.name or "")
        elif isinstance(parameter, click.Option) and not parameter.hidden:
            found += [option[2:].replace("-", "_") for option in parameter.opts if option.startswith("--")]
    return found


def taken_by(method: str) -> set[str]:
    return set(arguments_of(METHODS[method])) - {"return"}


@pytest.mark.parametrize("method", sorted(METHODS.keys() - NO_COMMAND))
def test_a_method_takes_every_word_of_its_command_under_that_name(method: str) -> None:
    taken, reasons = taken_by(method), {**OF_THE_COMMAND, **DIFFERENT.get(method, {})}
    missing = [
        word
        for word in words_of(COMMANDS[command_of(method)])
        if word not in taken and SAME.get(word) not in taken and word not in reasons
    ]
    assert missing == []


@pytest.mark.parametrize("method", sorted(METHODS.keys() - NO_COMMAND))
def test_a_method_takes_nothing_that_its_command_calls_otherwise(method: str) -> None:
    words = set(words_of(COMMANDS[command_of(method)]))
    words |= {SAME[word] for word in words & SAME.keys()}
    reasons = OF_THE_PROGRAM.keys() | DIFFERENT.get(method, {}).keys() | OTHERWISE.get(method, {}).keys()
    assert taken_by(method) - words - reasons == set()


def test_every_method_has_a_command_and_every_reason_a_method() -> None:
    assert {method for method in METHODS if command_of(method) not in COMMANDS} == NO_COMMAND.keys() & METHODS.keys()
    assert DIFFERENT.keys() | ELSEWHERE.keys() <= METHODS.keys()
    for method, reasons in DIFFERENT.items():
        words = set(words_of(COMMANDS[command_of(method)]))
        needless = {word for word in reasons if word in words and (word in taken_by(method))}
        assert needless == set(), f"{method} takes what is listed as different"


@pytest.fixture
def lab(tmp_path: Path) -> phaseline.Phaseline:
    (tmp_path / "phaseline.toml").write_text("")
    return phaseline.open(f"sqlite:///{tmp_path}/store.db")


def test_names_of_before_are_taken_with_a_warning(lab: phaseline.Phaseline) -> None:
    with lab:
        lab.resources.apply(records=[{"AdType": "Cloud.Node", "Name": f"n{at}"} for at in range(3)], cluster="c")
        with pytest.warns(DeprecationWarning, match=r"'where' of resources\.list is called 'filter' now.* 0\.3"):
            assert lab.resources.list(where='Name == "n1"').total == 1  # type: ignore[call-arg]  # a name of before
        assert lab.resources.list(filter='Name == "n1"').total == 1
        with pytest.warns(DeprecationWarning, match="everybody"):
            assert lab.resources.delete(everybody=True).changed == 3  # type: ignore[call-arg]  # as above


def test_a_name_of_before_beside_that_of_today_is_refused(lab: phaseline.Phaseline) -> None:
    with lab, pytest.raises(TypeError, match="'where' and 'filter', which mean the same"):
        lab.resources.list(where="true", filter="true")  # type: ignore[call-arg]  # as above


def test_every_renamed_argument_is_one_that_a_method_takes_today() -> None:
    for where, names in RENAMED.items():
        if where != "open":
            meant = [method for method in METHODS if method == where or method.startswith(f"{where}.")]
            assert meant, where
            assert set(names.values()) <= {name for method in meant for name in taken_by(method)}
    for where, (former, words) in SPLIT.items():
        assert set(words) <= taken_by(where)
        assert former not in taken_by(where)
