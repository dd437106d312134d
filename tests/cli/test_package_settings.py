"""Settings of packages reach their code, and those that are secrets reach nobody else (source 4; decision 30)."""

import json
from pathlib import Path

import pytest
from tests.cli.terminal import Terminal

SECRET = "correct-horse-battery"
METADATA = """\
name: door
title: Door
version: 1.0.0
description: Doors
package_version: 10.0.0
is_hotpluggable: true
hooks: ['doors:Guard']
"""
FORM = """\
attributes:
  metadata: {label: Door}
  key: {type: password, label: Key, weight: 10, value: ''}
  pin: {type: password, label: Pin, weight: 20, value: 'made-by-default'}
  name: {type: text, label: Name, weight: 30, value: front}
  width: {type: number, label: Width, weight: 40, value: 5}
"""
TASKS = """\
- {role: '*', stage: post_deployment/100, type: python, parameters: {function: 'doors:close', inputs: {}, timeout: 60}}
- role: '*'
  stage: post_deployment/200
  type: shell
  parameters: {cmd: 'echo "$PHASELINE_SETTINGS" > FOLDER/shell.json; echo "key is $PHASELINE_SETTINGS"', timeout: 60}
"""
CODE = """\
import json
from pathlib import Path
import phaseline

def keep(name, settings):
    Path("FOLDER", name).write_text(json.dumps(dict(settings)))

def close(item):
    keep("task.json", item.settings)

class Guard(phaseline.LifecycleHook):
    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        keep("hook.json", cnxt.settings)
        cnxt.log("key is " + cnxt.settings["key"])
"""
BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates: {one: {type: cloudify.nodes.Root}}
"""


@pytest.fixture
def site(terminal: Terminal) -> Terminal:
    """A deployment, and a package with settings that could be enabled for it."""
    folder = terminal.folder
    files = {
        "door/metadata.yaml": METADATA,
        "door/environment_config.yaml": FORM,
        "door/tasks.yaml": TASKS,
        "door/python/doors.py": CODE,
        "blueprint.yaml": BLUEPRINT,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("FOLDER", str(folder)))
    ok(terminal, "plugins", "install", "door")
    ok(terminal, "deployments", "create", "blueprint.yaml", "-d", "shop")
    return terminal


def ok(terminal: Terminal, *words: str) -> str:
    result = terminal.run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def enable(site: Terminal, *words: str) -> str:
    return ok(site, "deployments", "plugins", "enable", "shop", "door", *words)


def stored(site: Terminal) -> bytes:
    file = Path(site.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///"))
    return b"".join(each.read_bytes() for each in file.parent.glob(f"{file.name}*") if each.is_file())


def received(site: Terminal) -> list[dict[str, object]]:
    return [json.loads((site.folder / name).read_text()) for name in ("hook.json", "task.json", "shell.json")]


def test_passwords_are_hidden_and_sealed_and_reach_tasks_and_hooks(site: Terminal) -> None:
    told = enable(site, "--set", f"key={SECRET}")
    told += ok(site, "deployments", "plugins", "list", "shop")
    told += ok(site, "deployments", "plugins", "list", "shop", "--json")
    told += ok(site, "plugins", "show", "door") + ok(site, "plugins", "show", "door", "--json")
    told += enable(site, "--set", "name=back")
    told += ok(site, "executions", "start", "install", "-d", "shop")
    told += ok(site, "executions", "logs", "-d", "shop", "--level", "debug")
    told += ok(site, "deployments", "plugins", "disable", "shop", "door", "--json")
    assert "key is" in told
    assert 'key = "(hidden)"' in told
    assert SECRET not in told
    assert "made-by-default" not in told
    assert b"door" in stored(site)
    assert SECRET.encode() not in stored(site)
    expected = {"key": SECRET, "pin": "made-by-default", "name": "back", "width": 5}
    assert received(site) == [expected, expected, expected]


def test_the_doctor_tells_of_a_setting_that_became_a_password_and_enabling_again_seals_it(site: Terminal) -> None:
    enable(site, "--set", f"name={SECRET}")
    form, metadata = site.folder / "door/environment_config.yaml", site.folder / "door/metadata.yaml"
    before, line, after = form.read_text().partition("  name: {type: text")
    assert line
    form.write_text(f"{before}  name: {{type: password{after}")
    metadata.write_text(metadata.read_text().replace("version: 1.0.0\n", "version: 1.0.1\n", 1))
    ok(site, "plugins", "update", "door")
    told = [
        check for check in site.ask("doctor")[1]["checks"] if check["name"] == "secrets" and check["level"] == "warn"
    ]
    assert [check["text"] for check in told] == ["name of door==1.0.1 for 'shop' is not encrypted in the store"]
    assert told[0]["mend"].startswith("encrypt it: phaseline deployments plugins enable shop door==1.0.1")
    enable(site)
    ok(site, "store", "compact")
    assert {check["level"] for check in site.ask("doctor")[1]["checks"] if check["name"] == "secrets"} == {"ok"}
    assert SECRET.encode() not in stored(site)


def test_a_setting_may_name_a_secret(site: Terminal) -> None:
    code, found = site.ask("deployments", "plugins", "enable", "shop", "door", "--set", "key={get_secret: safe}")
    assert (code, found["problems"][0]["code"]) == (1, "PL-B079")
    ok(site, "secrets", "create", "safe", "--value", SECRET)
    told = enable(site, "--set", "key={get_secret: safe}", "--set", "name={get_secret: safe}")
    assert '"get_secret": "safe"' in told
    ok(site, "executions", "start", "install", "-d", "shop")
    assert {(one["key"], one["name"]) for one in received(site)} == {(SECRET, SECRET)}
    assert SECRET.encode() not in stored(site)


def test_code_that_is_not_there_is_told_without_importing_anything(site: Terminal) -> None:
    door = site.folder / "door"
    (door / "python/doors.py").write_text(CODE + "raise SystemExit('imported')\n")
    (door / "metadata.yaml").write_text(METADATA.replace("doors:Guard", "doors:Gard"))
    (door / "tasks.yaml").write_text(TASKS.replace("doors:close", "nosuch:close"))
    missing = site.run("plugins", "check", "door", "--json")
    assert missing.exit_code == 1
    wrong, odd = json.loads(missing.stdout)["problems"]
    assert (wrong["code"], wrong["severity"], wrong["line"]) == ("PL-F042", "error", 7)
    assert "there is no Gard in python/doors.py" in wrong["message"]
    assert (odd["code"], odd["severity"], odd["file"]) == ("PL-F042", "warning", "tasks.yaml")
    assert site.run("plugins", "install", "door", "--force").exit_code == 1
    said = site.run("plugins", "check", "door").output
    page = Path(__file__).parents[2] / "docs/errors/PL-F.md"
    assert said[said.index("PL-F042 error") :].split("\n\n")[0] in page.read_text()
    (door / "metadata.yaml").write_text(METADATA)
    (door / "python/doors.py").write_text("try:\n    from doors_of_others import *\nexcept ImportError:\n    pass\n")
    assert site.run("plugins", "check", "door").exit_code == 0
    (door / "python/doors.py").write_text("class Guard:\n")
    assert "python/doors.py cannot be read as Python" in site.run("plugins", "check", "door").output


def test_what_is_wrong_with_a_password_does_not_show_it(site: Terminal) -> None:
    result = site.run("deployments", "plugins", "enable", "shop", "door", "--set", f"key={{a: {SECRET}}}")
    assert result.exit_code == 1
    assert "(hidden) is not suitable" in result.output
    assert SECRET not in result.output


def test_a_default_that_is_a_number_need_not_be_in_quotes(site: Terminal) -> None:
    form = site.folder / "door/environment_config.yaml"
    assert "width = 5" in enable(site)
    form.write_text(FORM.replace("value: 5", "value: '5'"))
    assert site.run("plugins", "check", "door").exit_code == 0
    form.write_text(FORM.replace("value: 5", "value: x5"))
    assert "'x5' is no whole number" in site.run("plugins", "check", "door").output
    form.write_text(FORM.replace("value: front", "value: 5"))
    assert "write it in quotes" in site.run("plugins", "check", "door").output


def test_a_number_is_one_in_the_form_and_where_it_is_set(site: Terminal) -> None:
    assert "width = 7" in enable(site, "--set", "width=7")
    code, found = site.ask("deployments", "plugins", "enable", "shop", "door", "--set", "width='7'")
    assert (code, found["problems"][0]["code"]) == (1, "PL-F032")
