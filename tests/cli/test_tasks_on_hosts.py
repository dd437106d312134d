"""Tasks of packages on hosts over SSH, from the blueprint to what is left there (decision 25)."""

from pathlib import Path

import pytest
from tests.cli.terminal import Terminal
from tests.tasks.servers import KINDS, server

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  vm:
    type: cloudify.nodes.Compute
    properties:
      ip: 127.0.0.1
      agent_config:
        install_method: remote
        user: USER
        port: PORT
        key: {get_secret: ssh_key}
        extra: {host_key: HOST_KEY}
  web:
    type: cloudify.nodes.SoftwareComponent
    relationships: [{type: cloudify.relationships.contained_in, target: vm}]
"""
METADATA = "name: net\ntitle: Net\nversion: 1.0.2\ndescription: Net\npackage_version: 10.0.0\n"
TASKS = """\
- role: [web]
  stage: post_deployment/1
  type: upload_file
  parameters: {path: app.conf, data: "mtu 9000", timeout: 60}
- role: [web]
  stage: post_deployment/2
  type: shell
  parameters: {cmd: ./say.sh, timeout: 60}
"""


def ok(terminal: Terminal, *words: str) -> str:
    result = terminal.run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_d25_a_package_reaches_a_host_by_the_key_that_is_a_secret(
    terminal: Terminal, tmp_path: Path, kind: str
) -> None:
    package = tmp_path / "net"
    (package / "deployment_scripts").mkdir(parents=True)
    (package / "metadata.yaml").write_text(METADATA)
    (package / "tasks.yaml").write_text(TASKS)
    (package / "deployment_scripts" / "say.sh").write_text("#!/bin/sh\necho $(cat app.conf) on $PHASELINE_INSTANCE\n")
    (package / "deployment_scripts" / "say.sh").chmod(0o755)
    with server(kind, tmp_path / "server") as running:
        text = BLUEPRINT.replace("USER", running.user).replace("PORT", str(running.port))
        (tmp_path / "blueprint.yaml").write_text(text.replace("HOST_KEY", running.host_key))
        (tmp_path / "key").write_text(running.key)
        ok(terminal, "secrets", "create", "ssh_key", "--file", str(tmp_path / "key"))
        ok(terminal, "plugins", "install", str(package))
        ok(terminal, "deployments", "create", str(tmp_path / "blueprint.yaml"), "-d", "shop")
        ok(terminal, "deployments", "plugins", "enable", "shop", "net")
        ok(terminal, "executions", "start", "install", "-d", "shop")
        said = ok(terminal, "executions", "logs", "-d", "shop")
        assert "<out> mtu 9000 on web_" in said
        (folder,) = (running.home / ".phaseline" / "shop").iterdir()
        assert (folder / "net-1.0.2" / "app.conf").read_text() == "mtu 9000"
        middle = running.key.splitlines()[2]
        assert middle not in said
        stored = [file for file in tmp_path.glob("store.db*") if file.is_file()]
        assert stored
        assert [file.name for file in stored if middle.encode() in file.read_bytes()] == []
