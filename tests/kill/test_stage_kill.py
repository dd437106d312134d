"""Engines killed in the middle of a stage: who goes on repeats nothing that is done, in the order of before (F34)."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.tasks.tasked import living, pids_in

PHASELINE = [sys.executable, "-m", "phaseline"]
PATIENCE_S = 60.0
BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  web:
    type: cloudify.nodes.Root
    capabilities: {scalable: {properties: {default_instances: 3}}}
"""
HANG = 'sleep 60 & echo $! >> "$FOLDER/pids"; [ -f "$FOLDER/go" ] || wait; kill $!'


class Site:
    """A folder with a store, and commands in processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "blueprint.yaml").write_text(BLUEPRINT)
        self.environment = {
            **os.environ,
            "PHASELINE_STORE_URL": f"sqlite:///{folder}/store.db",
            "XDG_CONFIG_HOME": str(folder / "config"),
        }

    def start(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*PHASELINE, *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *words: str, code: int = 0) -> str:
        started = self.start(*words)
        said, _ = started.communicate(timeout=PATIENCE_S)
        assert started.returncode == code, said
        return said

    def package(self, name: str, stages: Mapping[str, str], *, retries: int = 3) -> None:
        """A package with a task in each of these stages, installed and enabled. {stage: script}"""
        folder = self.folder / name
        scripts = folder / "deployment_scripts"
        scripts.mkdir(parents=True)
        (folder / "metadata.yaml").write_text(
            f"name: {name}\ntitle: x\nversion: 1.0.0\ndescription: x\npackage_version: 10.0.0\nis_hotpluggable: true\n"
        )
        tasks = ""
        for place, (stage, text) in enumerate(stages.items()):
            file = scripts / f"{place}.sh"
            note = f'FOLDER={self.folder}; echo "{name} {stage} $PHASELINE_INSTANCE" >> "$FOLDER/calls"'
            file.write_text(f"#!/bin/sh\n{note}\n{text}\n")
            file.chmod(0o755)
            said = f"{{cmd: ./{place}.sh, timeout: 600, interval: 0, retries: {retries}}}"
            tasks += f"- {{role: '*', stage: {stage}, type: shell, parameters: {said}}}\n"
        (folder / "tasks.yaml").write_text(tasks)
        self.run("plugins", "install", str(folder))

    def lines(self, name: str) -> list[str]:
        file = self.folder / name
        return file.read_text().splitlines() if file.exists() else []

    def await_lines(self, name: str, count: int) -> None:
        until = time.monotonic() + PATIENCE_S
        while len(self.lines(name)) < count:
            assert time.monotonic() < until, self.lines("calls")
            time.sleep(0.01)


@pytest.mark.kill
@pytest.mark.parametrize("retries", [3, 0])
def test_f34_a_stage_goes_on_after_a_kill_in_its_middle_as_it_was_planned(tmp_path: Path, retries: int) -> None:
    site = Site(tmp_path)
    stages = {"post_deployment/1": "", "post_deployment/2": HANG, "post_deployment/3": ""}
    site.package("net", stages, retries=retries)
    site.run("deployments", "create", "blueprint.yaml", "-d", "shop")
    site.run("deployments", "plugins", "enable", "shop", "net")
    engine = site.start("executions", "start", "install", "-d", "shop")
    site.await_lines("pids", 3)
    engine.send_signal(signal.SIGKILL)
    engine.communicate()
    until = time.monotonic() + PATIENCE_S
    while living(tmp_path / "pids"):
        assert time.monotonic() < until, "what a killed engine ran goes on"
    site.package("early", {"post_deployment/0": ""})  # it would come before all that is left
    (tmp_path / "go").touch()
    if retries:
        site.run("executions", "resume", "install-1")
    else:  # nobody has said that it may be called twice
        assert "unsure" in site.run("executions", "resume", "install-1", code=1)
        assert len(site.lines("calls")) == 6
        site.run("executions", "retry", "install-1")
    calls = [line.rsplit(" ", 1) for line in site.lines("calls")]
    order = [f"net post_deployment/{number}" for number in (1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3)]
    assert [what for what, _ in calls] == order, "done ones once, those in the middle again"
    assert len(pids_in(tmp_path / "pids")) == 6
