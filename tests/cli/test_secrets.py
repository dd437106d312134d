"""Secrets from the keyboard to the call, and in nothing that is written (decision 30)."""

import base64
import json
import stat
from pathlib import Path

import pytest
from tests.cli.clusters import moved, plugins, record, worked
from tests.cli.terminal import Terminal

PLANTED = (
    "correct-horse-battery",
    "correct+horse+battery",
    "s3cr3t/of+json",
    "hidden-input-value",
    "-----BEGIN KEY-----",
    "q83vEjRWeJq8MIIE",
)
"""Values of secrets and hidden inputs, none of which may stand anywhere in clear."""
KEY = "-----BEGIN KEY-----\nq83vEjRWeJq8MIIE\n-----END KEY-----\n"
BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs:
  hush: {hidden: true, required: false}
  named: {default: db}
plugins:
  made: {executor: central_deployment_agent, install: false}
node_types:
  Thing:
    derived_from: cloudify.nodes.Root
    properties:
      password: {default: {get_secret: password}}
      url: {default: {concat: ['db://u:', {get_secret: [db, pass]}, '@h']}}
      hush: {default: {get_input: hush}}
      conf: {default: {port: 80, login: {string_replace: [{get_secret: password}, '-', '+']}}}
node_templates:
  script:
    type: Thing
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: scripts/say.sh
          inputs:
            key: {get_secret: key}
            password: {get_property: [SELF, password]}
            url: {get_property: [SELF, url]}
            hush: {get_input: hush}
            conf: {get_property: [SELF, conf]}
  plugin:
    type: Thing
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {implementation: made.made.create, inputs: {shout: {string_upper: {get_secret: password}}}}
        start: made.made.start
        stop: made.made.stop
  foreign:
    type: Thing
    interfaces:
      cloudify.interfaces.lifecycle:
        create: made.foreign.create
        start: {implementation: made.foreign.start, inputs: {seen: {get_attribute: [SELF, password]}}}
outputs:
  password: {value: {get_secret: password}}
  shouted: {value: {string_upper: {get_secret: password}}}
  split: {value: {a: [{string_split: [{get_secret: password}, '-']}], b: {get_property: [script, conf]}}}
  kept: {value: {get_attribute: [foreign, password]}}
  plain: {value: {get_attribute: [foreign, plain]}}
"""
SAY = """\
#!/bin/sh
echo "the password is $password, at $url"
echo "hush: $hush" >&2
echo "conf: $conf"
printf '%s' "$key"
printf 'u:%s' "$password" | base64
ctx logger info "told $(ctx get_secret password)"
ctx instance runtime-properties said "$password"
"""
MADE = """\
from phaseline import NonRecoverableError, operation

FAILS = []


@operation(repeatable=True)
def create(item):
    print("shouting", item.inputs["shout"])
    item.log.warning("it is " + item.secret("password"))
    item.runtime_properties["nested"] = {"list": [item.properties["hush"], "x"], "url": item.properties["url"]}
    item.data["password"] = item.properties["password"]
    if item.attempt == 0:
        item.fail("cannot log in with " + item.properties["password"], retry=True)


@operation(repeatable=True)
def start(item):
    raise NonRecoverableError(f"refused: {item.properties['hush']!r}, {item.properties['url']}")


def stop(item):
    item.runtime_properties[item.properties["password"]] = 1


stop = operation(repeatable=True)(stop)
"""
PHASE = """\
def handle(handler):
    for node in handler.getResources():
        value = handler.secret("password")
        if node.getAsString("Login"):
            assert node.getAsString("Login") == "ann:" + value
        node.setString("Login", "ann:" + value)
        handler.getResourcePhaseData(node).setString("Kept", value)
        handler.log("info", "logging in with " + value, node)
        handler.setFailed(node, "refused " + value)
"""
FOREIGN = """\
from cloudify.decorators import operation
from cloudify.exceptions import OperationRetry
from cloudify.manager import get_rest_client


@operation(resumable=True)
def create(ctx, **_):
    value = get_rest_client().secrets.get("password").value
    assert value == ctx.get_secret("password")
    ctx.instance.runtime_properties["password"] = value
    ctx.instance.runtime_properties["plain"] = "nothing to hide"
    ctx.logger.info("got %s", value)
    if not ctx.operation.retry_number:
        raise OperationRetry("once more with " + value)


@operation(resumable=True)
def start(ctx, seen, **_):
    ctx.instance.runtime_properties["length"] = len(seen)
"""


@pytest.fixture
def planted(terminal: Terminal) -> Terminal:
    """A terminal with the blueprint and its secrets."""
    for path, text in {
        "blueprint.yaml": BLUEPRINT,
        "scripts/say.sh": SAY,
        "plugins/made.py": MADE,
        "plugins/foreign.py": FOREIGN,
        "key": KEY,
        "db.json": json.dumps({"pass": "s3cr3t/of+json", "user": "annika"}),
    }.items():
        file = terminal.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    (terminal.folder / "scripts/say.sh").chmod(0o755)
    assert terminal.run("secrets", "create", "password", "--value", "correct-horse-battery").exit_code == 0
    assert terminal.run("secrets", "create", "db", "--file", "db.json").exit_code == 0
    assert terminal.run("secrets", "create", "key", "--file", "key").exit_code == 0
    return terminal


def everything(terminal: Terminal) -> dict[str, bytes]:
    """{file: content} of all that was written beside the store, the store with its journal included."""
    root = terminal.folder.parent
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and terminal.folder not in path.parents
    }


def assert_nowhere(where: str, content: bytes) -> None:
    for value in PLANTED:
        for form in (value.encode(), value.upper().encode(), base64.b64encode(value.encode()).rstrip(b"=")[:-2]):
            assert form not in content, f"{value} stands in {where}"


def assert_hidden_from_users_and_not_from_plugins(planted: Terminal) -> None:
    _, listed = planted.ask("instances", "list")
    shown = {
        row["node"]: planted.ask("instances", "show", row["id"])[1]["runtime_properties"] for row in listed["instances"]
    }
    assert shown["foreign"] == {"password": "(hidden)", "plain": "nothing to hide", "length": 21}
    assert shown["script"] == {"said": "(hidden)"}
    assert shown["plugin"] == {"nested": {"list": ["(hidden)", "x"], "url": "(hidden)"}}
    hidden = {"password": "(hidden)", "kept": "(hidden)", "plain": "nothing to hide", "shouted": "(hidden)"}
    hidden |= {"split": {"a": [["(hidden)"] * 3], "b": {"port": 80, "login": "(hidden)"}}}
    assert planted.ask("deployments", "outputs", "shop")[1]["outputs"] == hidden
    clear = {"password": PLANTED[0], "kept": PLANTED[0], "plain": "nothing to hide", "shouted": PLANTED[0].upper()}
    clear |= {"split": {"a": [PLANTED[0].split("-")], "b": {"port": 80, "login": PLANTED[1]}}}
    assert planted.ask("deployments", "outputs", "shop", "--reveal")[1]["outputs"] == clear


def assert_masked_and_readable(planted: Terminal) -> None:
    _, told = planted.ask("executions", "logs", "install-1", "--limit", "500")
    texts = [line["text"] for line in told["lines"]]
    assert "<out> the password is ********, at db://u:********@h" in texts
    assert "<err> hush: ********" in texts
    assert '<out> conf: {"port": 80, "login": "********"}' in texts
    assert "told ********" in texts
    assert "<out> shouting ********" in texts
    assert "got ********" in texts


def test_d30_no_secret_stands_in_anything_that_is_written(planted: Terminal) -> None:
    said = [planted.run("plan", "install", "blueprint.yaml", "-i", "hush=hidden-input-value")]
    said.append(planted.run("-v", "install", "blueprint.yaml", "-i", "hush=hidden-input-value"))
    assert said[-1].exit_code == 1, "the operation start of the plugin fails"
    assert "refused: '********', db://u:********@h" in said[-1].output
    for words in (
        ("executions", "logs", "install-1"),
        ("executions", "events", "install-1"),
        ("executions", "show", "install-1"),
        ("deployments", "show", "shop"),
        ("deployments", "outputs", "shop"),
        ("instances", "list"),
        ("status",),
        ("store", "check"),
    ):
        said += [planted.run(*words), planted.run(*words, "--json")]
    ids = [row["id"] for row in planted.ask("instances", "list")[1]["instances"]]
    said += [planted.run("instances", "show", id, *more) for id in ids for more in ((), ("--json",))]
    assert_hidden_from_users_and_not_from_plugins(planted)
    assert_masked_and_readable(planted)
    for result in said:
        assert_nowhere(str(result), result.output.encode())
    found = everything(planted)
    assert "store.db" in found
    for where, content in found.items():
        assert_nowhere(where, content)


def test_d30_the_name_of_a_property_cannot_be_a_secret(planted: Terminal) -> None:
    planted.run("install", "blueprint.yaml", "-i", "hush=hidden-input-value")
    result = planted.run("executions", "start", "execute_operation", "-d", "shop",
                         "-p", "operation=cloudify.interfaces.lifecycle.stop", "-p", "node_ids=[plugin]")  # fmt: skip
    assert result.exit_code == 1
    assert "the name of a runtime property holds a secret" in result.output


def test_d30_phases_read_secrets_and_what_they_keep_of_them_is_sealed(terminal: Terminal) -> None:
    folder = plugins(terminal)
    (folder / "create.py").write_text(PHASE)
    with (folder / "create.cfg").open("a") as file:
        file.write("Phase.BreakerShare = 0.5\nPhase.BreakerMinimum = 1\n")
    terminal.run("secrets", "create", "password", "--value", "correct-horse-battery")
    moved(terminal, record("n1"))
    said = [
        terminal.run("resources", *words)
        for words in (("show", "n1"), ("show", "n1", "--json"), ("list", "--json"), ("history", "n1"), ("why", "n1"))
    ]
    said += [terminal.run("phases", "show", "Acme.Create"), terminal.run("phases", "list", "--json")]
    assert "the last message: refused ********" in said[-1].output
    assert "(hidden)" in said[0].output
    assert "refused correct" not in said[0].output
    for where, content in everything(terminal).items():
        assert_nowhere(where, content)
    for result in said:
        assert_nowhere(str(result), result.output.encode())
    (folder / "create.py").write_text(PHASE.replace("handler.setFailed(node, ", "handler.setCompleted(node) or ("))
    terminal.run("phases", "unpause", "Acme.Create")
    terminal.run("resources", "retry", "n1")
    worked(terminal)
    assert '"State": "Started"' in terminal.run("resources", "show", "n1", "--json").output


def test_b41_all_secrets_that_are_missing_are_named_before_anything_is_stored(planted: Terminal) -> None:
    for name in ("db", "key"):
        planted.run("secrets", "delete", name)
    for words in (("install",), ("deployments", "create")):
        result = planted.run(*words, "blueprint.yaml", "-i", "hush=x")
        assert result.exit_code == 1
        assert "PL-B079" in result.output
        assert "'db'" in result.output
        assert "'key'" in result.output
        assert "phaseline secrets create db" in result.output
    assert planted.ask("deployments", "list")[1]["deployments"] == []
    plan = planted.run("plan", "install", "blueprint.yaml", "-i", "hush=x")
    assert plan.exit_code == 0, "a plan is for looking"
    assert "PL-B079" in plan.output


def test_b24_outputs_of_a_secret_that_is_gone_are_left_out(planted: Terminal) -> None:
    planted.run("deployments", "create", "blueprint.yaml", "-i", "hush=x")
    planted.run("secrets", "delete", "password")
    assert "password" not in planted.ask("deployments", "outputs", "shop", "--reveal")[1]["outputs"]


def test_d30_a_secret_has_the_value_of_the_moment_of_the_call_and_is_opened_by_every_engine(planted: Terminal) -> None:
    planted.run("deployments", "create", "blueprint.yaml", "-i", "hush=x")
    planted.run("secrets", "update", "password", "--value", "changed-meanwhile")
    planted.run(
        "executions", "start", "execute_operation", "-d", "shop",
        "-p", '{"operation": "cloudify.interfaces.lifecycle.create", "node_ids": ["foreign"]}',
    )  # fmt: skip
    assert planted.ask("deployments", "outputs", "shop", "--reveal")[1]["outputs"]["kept"] == "changed-meanwhile"
    planted.run(
        "executions", "start", "execute_operation", "-d", "shop",
        "-p", "operation=cloudify.interfaces.lifecycle.start", "-p", "node_ids=[foreign]",
    )  # fmt: skip
    (row,) = planted.ask("instances", "list", "--node", "foreign")[1]["instances"]
    seen = planted.ask("instances", "show", row["id"])[1]["runtime_properties"]
    assert seen["length"] == len("changed-meanwhile"), "another engine opens what was sealed"


def test_d30_problems_with_hidden_inputs_do_not_show_them(planted: Terminal) -> None:
    text = BLUEPRINT.replace("hush: {hidden: true,", "hush: {type: integer, hidden: true,")
    (planted.folder / "blueprint.yaml").write_text(text)
    result = planted.run("install", "blueprint.yaml", "-i", "hush=hidden-input-value")
    assert "PL-B082" in result.output
    assert_nowhere("the problem", result.output.encode())


def test_b41_the_words_about_secrets(terminal: Terminal) -> None:
    assert "PL-S007" in terminal.run("secrets", "list").output
    assert terminal.run("secrets", "create", "token", "--value", "first-value").exit_code == 0
    assert "PL-C051" in terminal.run("secrets", "create", "token", "--value", "x").output
    assert terminal.run("secrets", "create", "token", "--value", "second-value", "--update").exit_code == 0
    assert terminal.run("secrets", "show", "token", "--reveal").stdout == "second-value\n"
    shown = terminal.ask("secrets", "show", "token")[1]
    assert (shown["version"], shown["value"]) == (2, None)
    assert "second-value" not in terminal.run("secrets", "show", "token").output
    assert [row["name"] for row in terminal.ask("secrets", "list")[1]["secrets"]] == ["token"]
    assert "PL-C050" in terminal.run("secrets", "show", "tokne").output
    assert "token" in terminal.run("secrets", "show", "tokne").output
    assert "PL-C053" in terminal.run("secrets", "create", "my token", "--value", "x").output
    assert "PL-C053" in terminal.run("secrets", "create", "../token", "--value", "x").output
    assert "PL-C052" in terminal.run("secrets", "create", "empty", "--value", "").output
    assert "PL-C052" in terminal.run("secrets", "create", "gone", "--file", "nowhere").output
    assert "fewer than 8" in terminal.run("secrets", "create", "short", "--value", "abc").output
    assert terminal.ask("secrets", "rotate")[1]["keys"] == 2
    assert terminal.run("secrets", "show", "token", "--reveal").stdout == "second-value\n"
    assert terminal.run("secrets", "delete", "token").exit_code == 0
    assert "PL-C050" in terminal.run("secrets", "update", "token", "--value", "third").output


def test_b41_the_key_lies_apart_from_the_store_and_is_closed(terminal: Terminal) -> None:
    terminal.run("secrets", "create", "token", "--value", "first-value")
    key = Path(terminal.environment["XDG_CONFIG_HOME"]) / "phaseline" / "secrets.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.rename(key.with_name("elsewhere"))
    assert "PL-S020" in terminal.run("secrets", "show", "token", "--reveal").output
    moved = {**terminal.environment, "PHASELINE_SECRETS_KEY_FILE": str(key.with_name("elsewhere"))}
    other = Terminal(terminal.folder, moved)
    assert other.run("secrets", "show", "token", "--reveal").stdout == "first-value\n"
