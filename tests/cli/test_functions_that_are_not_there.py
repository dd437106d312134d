"""Operations that are mapped to a function that its module has not: told with what was probably meant, nothing imported."""

import pytest
from tests.cli.terminal import Terminal

from phaseline.catalog.code.module_names import bound_names

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins: {p: {executor: central_deployment_agent, install: false}}
node_templates:
  web: {type: cloudify.nodes.Root, interfaces: {cloudify.interfaces.lifecycle: {create: p.MAPPED}}}
"""
MODULE = """\
raise SystemExit("nobody imports it")
import os.path as tools
from elsewhere import borrowed
def create(**_): ...
if tools:
    def start(**_): ...
for number in (1, 2):
    counted = made = 5
def outer():
    hidden = 1
class Maker:
    def inner(self): ...
"""


def told(terminal: Terminal, mapped: str, module: str = MODULE) -> list[tuple[str, str]]:
    """(code, mend) of the warnings of a blueprint whose node is created so."""
    (terminal.folder / "plugins").mkdir(exist_ok=True)
    (terminal.folder / "plugins" / "machines.py").write_text(module)
    file = terminal.write(BLUEPRINT.replace("MAPPED", mapped))
    code, found = terminal.ask("blueprints", "validate", file)
    assert code == 0
    return [(one["code"], one["mend"]) for one in found["warnings"]]


@pytest.mark.parametrize(
    "name", ["create", "start", "borrowed", "counted", "made", "Maker", "tools", "outer", "number"]
)
def test_w2_whatever_a_module_binds_may_be_called(terminal: Terminal, name: str) -> None:
    assert told(terminal, f"machines.{name}") == []


@pytest.mark.parametrize(("name", "meant"), [("craete", "create"), ("starts", "start"), ("hidden", ""), ("inner", "")])
def test_w2_a_function_that_is_not_there_is_told_with_what_was_meant(terminal: Terminal, name: str, meant: str) -> None:
    ((code, mend),) = told(terminal, f"machines.{name}")
    assert code == "PL-O009"
    assert not meant or mend == f"did you mean '{meant}'?"


@pytest.mark.parametrize(
    "more",
    ["from os import *", "globals()['x'] = 1", "def __getattr__(name): ...", "def f():\n    global g\n    g = 1"],
)
def test_w2_a_module_that_makes_up_its_names_is_not_looked_at(terminal: Terminal, more: str) -> None:
    assert told(terminal, "machines.craete", f"{MODULE}\n{more}\n") == []


def test_w2_plans_warn_of_it_and_an_install_stores_nothing(terminal: Terminal) -> None:
    told(terminal, "machines.craete")
    assert "did you mean 'create'?" in terminal.run("plan", "install", "blueprint.yaml").output
    code, found = terminal.ask("install", "blueprint.yaml")
    assert (code, [one["code"] for one in found["problems"]]) == (1, ["PL-O009"])
    assert not terminal.has_store()


def test_b31_a_mapping_without_a_module_is_told(terminal: Terminal) -> None:
    assert told(terminal, "create") == [("PL-O001", "write p.MODULE.create")]
    assert terminal.ask("install", "blueprint.yaml")[1]["problems"][0]["code"] == "PL-O001"


def test_what_cannot_be_read_tells_no_names() -> None:
    assert bound_names("/nowhere.py") is None


TYPED = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins: {p: {executor: central_deployment_agent, install: false}}
node_types:
  Web:
    derived_from: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create: p.machinse.create
relationships:
  tied:
    derived_from: cloudify.relationships.depends_on
    source_interfaces:
      cloudify.interfaces.relationship_lifecycle:
        establish: p.machines.tie
node_templates:
  web:
    type: Web
    interfaces:
      cloudify.interfaces.lifecycle:
        start:
          implementation: p.machines.begin_it
        stop: p.stop
  other:
    type: cloudify.nodes.Root
    relationships: [{type: tied, target: web}]
"""


def test_w2_what_is_not_there_is_told_with_the_line_that_maps_it(terminal: Terminal) -> None:
    told(terminal, "machines.create")
    file = terminal.write(TYPED)
    lines = {number: line.strip() for number, line in enumerate(TYPED.splitlines(), 1)}
    for words in (("blueprints", "validate"), ("plan", "install"), ("install",)):
        found = terminal.ask(*words, file)[1]
        wrong = found["problems" if words == ("install",) else "warnings"]
        assert {lines[one["line"]] for one in wrong} == {
            "create: p.machinse.create",
            "establish: p.machines.tie",
            "implementation: p.machines.begin_it",
            "stop: p.stop",
        }
        assert all(TYPED.splitlines()[one["line"] - 1][one["column"] - 1 :].startswith("p.") for one in wrong)
