"""Workflows by name: executions start, plan WORKFLOW, deployments create; B23, W26, WD1, WD7."""

import json
from pathlib import Path

import pytest
from tests.cli.terminal import BLUEPRINT, Terminal

OPS = """\
import json
from pathlib import Path

from cloudify import ctx
from phaseline import operation

CALLS = Path(__file__).with_name("ops")


def note(**what):
    with CALLS.open("a") as file:
        file.write(json.dumps(what, sort_keys=True) + "\\n")


@operation(bulk=True, repeatable=True)
def in_bulk(items):
    for item in items:
        note(node=item.node_id, together=len(items), **item.inputs)


def for_each(level=None, to="disk", **_):
    note(node=ctx.node.id, level=level, to=to, custom=ctx.workflow_parameters.get("custom"))


def fails(**_):
    raise ValueError("no disk")
"""
OPERATIONS = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs: {depth: {default: 7}}
plugins:
  ops: {executor: central_deployment_agent, install: false}
  flows: {executor: central_deployment_agent, install: false}
node_types:
  Thing:
    derived_from: cloudify.nodes.Root
    properties: {place: {default: tape}}
node_templates:
  base:
    type: Thing
    interfaces: {ops: {backup: {implementation: ops.ops.for_each, inputs: {to: {get_property: [SELF, place]}}}, bulk: ops.ops.in_bulk}}
  top:
    type: Thing
    capabilities: {scalable: {properties: {default_instances: 2}}}
    interfaces:
      ops:
        backup: {}
        bulk: ops.ops.in_bulk
        script: |
          echo "level $level" > "$(dirname "$PHASELINE_TEST_FILE")/script-$(ctx instance index)"
          echo again
    relationships: [{type: cloudify.relationships.depends_on, target: base}]
workflows:
  go: flows.all.go
  mine: default_workflows.cloudify.plugins.workflows.install
  never: {mapping: flows.all.go, availability_rules: {available: false}}
capabilities: {depth: {value: {get_input: depth}}}
"""


@pytest.fixture
def shop(terminal: Terminal) -> Terminal:
    """A deployment ``shop`` that is installed, with a plugin that notes what it is called with."""
    file = terminal.write(OPERATIONS)
    (terminal.folder / "plugins" / "ops.py").write_text(OPS)
    assert terminal.run("install", file).exit_code == 0
    return terminal


def noted(terminal: Terminal) -> list[dict[str, object]]:
    file = terminal.folder / "plugins" / "ops"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def start(terminal: Terminal, *words: str) -> tuple[int, dict[str, object]]:
    code, answer = terminal.ask("executions", "start", *words, "-d", "shop")
    return code, answer


def refusal(terminal: Terminal, *words: str) -> tuple[str, str, str]:
    code, answer = terminal.ask("executions", "start", *words, "-d", "shop")
    assert code == 1
    (problem,) = answer["problems"]
    return problem["code"], problem["message"], problem["mend"]


def execute(operation: str, *more: str) -> tuple[str, ...]:
    words = ["execute_operation", "-p", f"operation={operation}"]
    for parameter in more:
        words += ["-p", parameter]
    return tuple(words)


def test_w26_kwargs_reach_the_function_as_inputs(shop: Terminal) -> None:
    code, answer = start(shop, *execute("ops.backup", "operation_kwargs={level: 3}"))
    assert (code, answer["id"], answer["status"]) == (0, "execute_operation-2", "completed")
    assert noted(shop) == [{"node": "base", "level": 3, "to": "tape", "custom": None}]


MEANINGS = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins:
  ops: {executor: central_deployment_agent, install: false}
  wf: {executor: central_deployment_agent, install: false}
node_templates: {base: {type: cloudify.nodes.Root, interfaces: {ops: {backup: ops.ops.for_each}}}}
workflows:
  nightly:
    mapping: default_workflows.cloudify.plugins.workflows.execute_operation
    parameters: {operation: {default: ops.backup}, operation_kwargs: {default: {level: 3}}}
  weekly:
    mapping: wf.cloudify.plugins.workflows.execute_operation
    parameters: {operation: {default: ops.backup}, operation_kwargs: {default: {level: 9}}}
  mend: wf.cloudify.plugins.workflows.auto_heal_reinstall_node_subgraph
  grow: default_workflows.cloudify.plugins.workflows.scale_entity
"""


FAILING = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins: {ops: {executor: central_deployment_agent, install: false}}
node_templates:
  base: {type: cloudify.nodes.Root}
  code: {type: cloudify.nodes.Root, interfaces: {ops: {fail: ops.ops.break_off}}}
  file: {type: cloudify.nodes.Root, interfaces: {ops: {fail: fail.sh}}}
  text: {type: cloudify.nodes.Root, interfaces: {ops: {fail: "#!/bin/sh\\nexit 1\\n"}}}
  tied:
    type: cloudify.nodes.Root
    relationships:
      - {type: cloudify.relationships.depends_on, target: base, source_interfaces: {cloudify.interfaces.relationship_lifecycle: {unlink: ops.ops.break_off}}}
"""


def test_w4_a_failure_names_the_function_that_was_called(terminal: Terminal) -> None:
    file = terminal.write(FAILING)
    (terminal.folder / "plugins" / "ops.py").write_text("def break_off(**_): raise ValueError('no')\n")
    (terminal.folder / "fail.sh").write_text("#!/bin/sh\nexit 1\n")
    assert terminal.run("install", file).exit_code == 0
    words = ("execute_operation", "-p", "operation=ops.fail", "-p", "skip_undeclared=true", "--task-retries", "0")
    code, answer = start(terminal, *words)
    assert code == 1
    called = {failure["node"]: failure["function"] for failure in answer["failures"]}
    assert called == {"code": "ops.break_off", "file": "fail.sh", "text": "inline script"}
    assert "  ops.fail (ops.break_off)" in terminal.run("executions", "show", str(answer["id"])).output
    code, answer = start(terminal, "uninstall", "-p", "node_ids=[tied]", "--task-retries", "0")
    assert [failure["function"] for failure in answer["failures"]] == ["ops.break_off"]


@pytest.mark.parametrize(("name", "level"), [("nightly", 3), ("weekly", 9)])
def test_w26_execute_operation_under_another_name_or_plugin_keeps_its_kwargs(terminal: Terminal, name, level) -> None:
    file = terminal.write(MEANINGS)
    (terminal.folder / "plugins" / "ops.py").write_text(OPS)
    assert terminal.run("install", file).exit_code == 0
    code, answer = start(terminal, name)
    assert (code, answer["status"]) == (0, "completed")
    assert [call["level"] for call in noted(terminal)] == [level]


def test_b23_the_functions_of_heal_and_scale_work_under_the_names_that_they_have(terminal: Terminal) -> None:
    file = terminal.write(MEANINGS)
    (terminal.folder / "plugins" / "ops.py").write_text(OPS)
    assert terminal.run("install", file).exit_code == 0
    for words in (
        ("mend",),
        ("grow", "-p", "scalable_entity_name=base"),
        ("grow", "-p", "node_id=base", "-p", "delta=-1"),
    ):
        code, answer = start(terminal, *words)
        assert (code, answer["status"]) == (0, "completed"), words
    problem = refusal(terminal, "grow")
    assert problem[:2] == ("PL-P008", "the parameter 'scalable_entity_name' of 'scale' is missing")


RUNNING = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins: {ops: {executor: central_deployment_agent, install: false}}
node_templates:
  machine: {type: cloudify.nodes.Compute, interfaces: &both {cloudify.interfaces.lifecycle: {stop: ops.ops.for_each, start: ops.ops.for_each}}}
  app:
    type: cloudify.nodes.Root
    interfaces: *both
    relationships: [{type: cloudify.relationships.contained_in, target: machine}]
"""


@pytest.fixture
def running(terminal: Terminal) -> Terminal:
    """A deployment ``shop`` of an application on a machine, both started, and nothing noted yet."""
    file = terminal.write(RUNNING)
    (terminal.folder / "plugins" / "ops.py").write_text(OPS)
    assert terminal.run("install", file).exit_code == 0
    (terminal.folder / "plugins" / "ops").unlink()
    return terminal


def test_w26_restart_is_one_execution_of_two_rounds_each_with_its_own_parms(running: Terminal) -> None:
    code, answer = start(running, "restart", "-p", "stop_parms={level: 0}", "-p", "start_parms={level: 5}")
    assert (code, answer["id"], answer["status"]) == (0, "restart-2", "completed")
    assert [(call["node"], call["level"]) for call in noted(running)] == [
        ("machine", 0),
        ("app", 0),
        ("machine", 5),
        ("app", 5),
    ]


def test_w26_start_runs_after_stop_although_no_state_has_changed(running: Terminal) -> None:
    for name in ("stop", "start"):
        code, answer = start(running, name)
        assert (code, answer["status"]) == (0, "completed"), name
    assert [call["node"] for call in noted(running)] == ["machine", "app", "machine", "app"]


def test_w26_a_plan_of_restart_shows_both_rounds_and_what_to_watch_out_for(running: Terminal) -> None:
    text = running.run("plan", "restart", "-d", "shop").output
    assert text.startswith(
        "restart: 2 rounds one after the other, 4 plugin calls\n\nround 1 of 2: stop: 2 nodes, 2 instances\n"
    )
    assert "\nround 2 of 2: start: 2 nodes, 2 instances\n" in text
    assert "warning PL-P030" in text
    code, answer = running.ask("plan", "restart", "-d", "shop", "-p", "reverse_order=true")
    assert (code, [item["workflow"] for item in answer["rounds"]], answer["calls"]) == (0, ["stop", "start"], 4)
    assert answer["warnings"] == []
    assert noted(running) == []


def test_wd19_a_stop_says_before_it_begins_that_a_container_goes_first(running: Terminal) -> None:
    told = running.run("executions", "start", "stop", "-d", "shop")
    assert "containers are stopped before what they contain: 'machine' before 'app'" in told.output


def test_w25_a_reinstall_is_one_execution_in_which_everything_goes_and_comes_back(running: Terminal) -> None:
    code, answer = start(running, "reinstall")
    assert (code, answer["id"], answer["status"]) == (0, "reinstall-2", "completed")
    assert [call["node"] for call in noted(running)] == ["app", "machine", "machine", "app"]
    assert [row["state"] for row in running.ask("instances", "list", "-d", "shop")[1]["instances"]] == [
        "started",
        "started",
    ]


def test_w45_a_rollback_takes_back_what_a_failed_install_has_begun(terminal: Terminal) -> None:
    broken = RUNNING.replace(
        "{stop: ops.ops.for_each, start: ops.ops.for_each}", "{start: ops.ops.fails, stop: ops.ops.for_each}"
    )
    file = terminal.write(broken)
    (terminal.folder / "plugins" / "ops.py").write_text(OPS)
    assert terminal.run("install", file).exit_code == 1
    before = {row["id"]: row["state"] for row in terminal.ask("instances", "list", "-d", "shop")[1]["instances"]}
    assert sorted(before.values()) == ["starting", "uninitialized"]
    assert start(terminal, "rollback", "--force")[0] == 0
    after = {row["id"]: row["state"] for row in terminal.ask("instances", "list", "-d", "shop")[1]["instances"]}
    assert sorted(after.values()) == ["configured", "uninitialized"]
    assert [call["node"] for call in noted(terminal)] == ["machine"]


def test_w26_kwargs_win_over_inputs_of_the_blueprint_where_that_is_allowed(shop: Terminal) -> None:
    kwargs = "operation_kwargs={level: 3, to: moon}"
    assert refusal(shop, *execute("ops.backup", kwargs))[0] == "PL-P007"
    assert noted(shop) == []
    assert start(shop, *execute("ops.backup", kwargs, "allow_kwargs_override=true"))[0] == 0
    assert noted(shop) == [{"node": "base", "level": 3, "to": "moon", "custom": None}]


def test_w26_kwargs_may_be_functions(shop: Terminal) -> None:
    start(shop, *execute("ops.backup", "operation_kwargs={level: {get_property: [top, place]}}"))
    assert noted(shop)[0]["level"] == "tape"


def test_w26_all_instances_are_in_one_call_of_a_bulk_function(shop: Terminal) -> None:
    start(shop, *execute("ops.bulk", "operation_kwargs={x: [1]}"))
    assert [(call["node"], call["together"], call["x"]) for call in noted(shop)] == [
        ("base", 3, [1]),
        ("top", 3, [1]),
        ("top", 3, [1]),
    ]


def test_w26_in_dependency_order_there_is_a_call_for_each_level(shop: Terminal) -> None:
    start(shop, *execute("ops.bulk", "run_by_dependency_order=true"))
    assert [(call["node"], call["together"]) for call in noted(shop)] == [("base", 1), ("top", 2), ("top", 2)]


def test_w26_kwargs_reach_scripts_in_their_environment(shop: Terminal) -> None:
    code, _ = start(
        shop,
        *execute(
            "ops.script", f"operation_kwargs={{level: 3, PHASELINE_TEST_FILE: {shop.folder}/x}}", "node_ids=[top]"
        ),
    )
    assert code == 0
    assert [Path(shop.folder, f"script-{index}").read_text() for index in (1, 2)] == ["level 3\n"] * 2


def test_w26_states_stay_and_events_tell(shop: Terminal) -> None:
    start(shop, *execute("ops.backup", "operation_kwargs={level: 3}"))
    assert shop.ask("deployments", "show", "shop")[1]["states"] == {"started": 3}
    told = shop.run("executions", "events", "-d", "shop").stdout
    assert "Starting operation ops.backup (Operation parameters: {'level': 3})" in told
    assert "Finished operation ops.backup" in told
    assert "'execute_operation' workflow execution succeeded" in told


def test_wd7_nodes_without_the_operation_are_refused_before_anything_runs(shop: Terminal) -> None:
    code, message, _ = refusal(shop, *execute("ops.script"))
    assert (code, message) == ("PL-P006", "the operation 'ops.script' is not declared by 'base'")
    assert shop.ask("executions", "list")[1]["total"] == 1


def test_w26_a_plan_shows_what_would_be_called(shop: Terminal) -> None:
    shown = shop.run("plan", *execute("ops.bulk"), "-d", "shop")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("execute_operation: 2 nodes, 3 instances\n")
    assert "1 batch, 1 plugin call" in shown.stdout
    assert "~ base  Thing × 1\n" in shown.stdout
    assert noted(shop) == []


def test_any_workflow_is_planned_by_its_name(shop: Terminal) -> None:
    assert shop.run("plan", "go", "-d", "shop").exit_code == 1
    assert shop.ask("plan", "uninstal", "-d", "shop")[1]["problems"][0]["code"] == "PL-P009"
    nothing = shop.run("plan", *execute("ops.backup", "node_instance_ids=[]", "node_ids=[top]"), "-d", "shop")
    assert nothing.stdout.endswith("execution: nothing is called\n")


# B23: parameters


def test_b23_parameters_come_from_files_and_from_the_command_line(shop: Terminal) -> None:
    (shop.folder / "given.yaml").write_text("operation: ops.backup\noperation_kwargs: {level: 1}\n")
    words = ("execute_operation", "--params", "given.yaml", "-p", "operation_kwargs={level: 2}")
    assert start(shop, *words)[0] == 0
    assert noted(shop)[0]["level"] == 2


def test_b23_everything_wrong_with_parameters_is_told_at_once(shop: Terminal) -> None:
    words = ("execute_operation", "-p", "operation_kwarg={}", "-p", "speed=3", "-d", "shop")
    code, answer = shop.ask("executions", "start", *words)
    assert code == 1
    assert [problem["code"] for problem in answer["problems"]] == ["PL-P008", "PL-P004", "PL-P004"]
    assert answer["problems"][1]["mend"].startswith("did you mean 'operation_kwargs'?")


def test_b23_custom_parameters_are_handed_on_where_they_are_allowed(shop: Terminal) -> None:
    assert start(shop, *execute("ops.backup", "custom=5"), "--allow-custom-parameters")[0] == 0
    assert noted(shop)[0]["custom"] == 5


def test_b23_a_parameter_that_we_know_and_the_types_do_not_needs_no_permission(shop: Terminal) -> None:
    assert start(shop, *execute("ops.backup", "skip_undeclared=true"))[0] == 0


# B23: availability


def test_b23_a_workflow_that_is_not_available_is_refused_unless_forced(shop: Terminal) -> None:
    code, message, mend = refusal(shop, "install")
    assert code == "PL-P010"
    assert "3 of 3 instances are started" in message
    assert "--force" in mend
    assert start(shop, "install", "--force")[0] == 0
    assert refusal(shop, "never")[0] == "PL-P036"


def test_b23_uninstall_and_install_can_be_started_by_name(shop: Terminal) -> None:
    assert start(shop, "uninstall", "-p", "node_ids=[top]")[0] == 0
    assert shop.ask("deployments", "show", "shop")[1]["states"] == {"started": 1, "deleted": 2}
    assert start(shop, "install")[0] == 0
    assert shop.ask("deployments", "show", "shop")[1]["states"] == {"started": 3}


# Which workflows there are


def test_b23_an_unknown_workflow_is_refused_with_a_guess(shop: Terminal) -> None:
    code, _, mend = refusal(shop, "execute_operatoin")
    assert code == "PL-P009"
    assert "execute_operation" in mend


def test_wd1_a_built_in_workflow_that_the_blueprint_replaces_is_not_run_in_its_place(terminal: Terminal) -> None:
    file = terminal.write(OPERATIONS.replace("  go: flows.all.go", "  install: flows.all.go"))
    (terminal.folder / "plugins" / "ops.py").write_text(OPS)
    made = terminal.run("deployments", "create", file)
    assert made.exit_code == 0
    assert "the workflow 'install' replaces the built-in one" in made.stderr
    code, message, _ = refusal(terminal, "install")
    assert (code, message.partition(",")[0]) == ("PL-P036", "the workflow 'install' is the function 'all.go'")


def test_workflows_of_a_blueprint_without_the_types_are_the_built_in_ones(terminal: Terminal) -> None:
    terminal.write()
    file = terminal.folder / "blueprint.yaml"
    file.write_text(
        "tosca_definitions_version: cloudify_dsl_1_4\nnode_types: {a.b: {}}\nnode_templates: {n: {type: a.b}}\n"
    )
    assert terminal.run("deployments", "create", str(file)).exit_code == 0
    assert start(terminal, "install")[0] == 0
    assert refusal(terminal, "skale")[0] == "PL-P009"


# deployments create, inputs, capabilities


def test_create_stores_without_installing(terminal: Terminal) -> None:
    code, made = terminal.ask("deployments", "create", terminal.write(), "-d", "mine", "-i", "count=3")
    assert (code, made["name"], made["states"], made["status"]) == (0, "mine", {"uninitialized": 4}, "not_installed")
    assert terminal.calls() == []
    assert terminal.ask("executions", "list")[1]["total"] == 0
    assert terminal.ask("executions", "start", "install", "-d", "mine")[0] == 0
    assert len(terminal.calls()) == 4


def test_create_refuses_a_name_that_is_taken(terminal: Terminal) -> None:
    file = terminal.write()
    terminal.run("deployments", "create", file)
    code, answer = terminal.ask("deployments", "create", file)
    assert (code, answer["problems"][0]["code"]) == (1, "PL-S010")


def test_create_stores_nothing_of_what_is_wrong(terminal: Terminal) -> None:
    assert terminal.run("deployments", "create", terminal.write(), "-i", "cuont=3").exit_code == 1
    assert not terminal.has_store()


def test_b13_inputs_of_a_deployment_are_shown_and_hidden_ones_stay_hidden(terminal: Terminal) -> None:
    terminal.run("deployments", "create", terminal.write(), "-d", "a")
    assert terminal.run("deployments", "inputs", "a").stdout == "count: 2\nword: hello\nsecret: (hidden)\n"
    assert terminal.ask("deployments", "inputs", "a")[1]["inputs"]["count"] == 2
    assert terminal.run("deployments", "capabilities", "a").stdout == "The blueprint of 'a' has no capabilities.\n"


def test_b24_capabilities_are_computed(shop: Terminal) -> None:
    assert shop.run("deployments", "capabilities", "shop").stdout == "depth: 7\n"
    assert shop.ask("deployments", "capabilities", "shop")[1] == {"deployment": "shop", "capabilities": {"depth": 7}}


# --stop-after


BRANCHES = (
    BLUEPRINT.partition("node_templates:")[0]
    + """\
node_templates:
  bad: {type: Thing}
  good: {type: Thing}
  next: {type: Thing, relationships: [{type: cloudify.relationships.depends_on, target: good}]}
"""
)


@pytest.mark.parametrize(("limit", "goes_on"), [("0", False), ("1", True), ("100%", True), ("99%", False)])
def test_after_too_many_failures_nothing_new_begins(terminal: Terminal, limit: str, goes_on: bool) -> None:
    terminal.environment["PHASELINE_RUN_THREADS"] = "1"  # so that the failure comes first
    file = terminal.write(BRANCHES)
    terminal.trouble("bad")
    assert terminal.run("install", file, "--task-retries", "0", "--stop-after", limit).exit_code == 1
    assert ("create next" in terminal.calls()) == goes_on


@pytest.mark.parametrize(
    "words",
    [
        ("--stop-after", "many"),
        ("--stop-after", "101%"),
        ("--stop-after", "1.5"),
        ("--stop-after", "3", "--on-failure", "stop"),
    ],
)
def test_a_limit_that_is_none_is_refused(terminal: Terminal, words: tuple[str, ...]) -> None:
    result = terminal.run("uninstall", "-d", "shop", *words)
    assert result.exit_code == 2
    assert "--stop-after" in result.stderr


def test_an_operation_that_may_be_several_is_told_with_their_names(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    code, found = terminal.ask("executions", "start", "execute_operation", "-d", "shop", "-p", "operation=create")
    (problem,) = found["problems"]
    assert (code, problem["code"]) == (1, "PL-P006")
    assert problem["message"] == "the operation 'create' of 'base', 'top' is ambiguous: it may be any of 2"
    (problem,) = terminal.ask("plan", "execute_operation", "-d", "shop", "-p", "operation=nothing")[1]["problems"]
    assert "there are: cloudify.interfaces.lifecycle.create, cloudify.interfaces.lifecycle.delete," in problem["mend"]
