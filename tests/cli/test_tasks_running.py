"""Tasks of packages run by a real engine: retried where they failed, ended in time, gone on with after a failure (source 4)."""

from collections import Counter

import pytest
from tests.cli.terminal import Terminal
from tests.tasks.tasked import living

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  web:
    type: cloudify.nodes.Root
    capabilities: {scalable: {properties: {default_instances: 3}}}
"""
METADATA = "name: net\ntitle: Net\nversion: 1.0.2\ndescription: Net\npackage_version: 10.0.0\n"
NOTE = 'echo "$PHASELINE_STAGE $PHASELINE_INSTANCE" >> "$FOLDER/calls"\n'


def task(stage: str, script: str, **parameters: object) -> str:
    said = "".join(f"    {name}: {value}\n" for name, value in {"timeout": 60, "interval": 0, **parameters}.items())
    return f"- role: '*'\n  stage: {stage}\n  type: shell\n  parameters:\n    cmd: ./{script}.sh\n{said}"


class Site:
    """A deployment of three instances with one package enabled, whose scripts note who ran them."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.folder = terminal.folder
        self.failures = ""

    def ok(self, *words: str) -> str:
        result = self.terminal.run(*words)
        assert result.exit_code == 0, result.output
        return result.stdout

    def enable(self, tasks: str, **scripts: str) -> None:
        package = self.folder / "net"
        (package / "deployment_scripts").mkdir(parents=True)
        (package / "metadata.yaml").write_text(METADATA)
        (package / "tasks.yaml").write_text(tasks)
        for name, text in scripts.items():
            file = package / "deployment_scripts" / f"{name}.sh"
            file.write_text(f"#!/bin/sh\nFOLDER={self.folder}\n{NOTE}{text}\n")
            file.chmod(0o755)
        (self.folder / "blueprint.yaml").write_text(BLUEPRINT)
        self.ok("plugins", "install", str(package))
        self.ok("deployments", "create", str(self.folder / "blueprint.yaml"), "-d", "shop")
        self.ok("deployments", "plugins", "enable", "shop", "net")

    def install(self) -> int:
        return self._done("executions", "start", "install", "-d", "shop")

    def retry(self) -> int:
        return self._done("executions", "retry", "install-1")

    def _done(self, *words: str) -> int:
        code, answer = self.terminal.ask(*words)
        self.failures = "\n".join(failure["message"] for failure in answer.get("failures", ()))
        return code

    @property
    def calls(self) -> list[tuple[str, str]]:
        """(stage, instance) of each run of a script, in order."""
        file = self.folder / "calls"
        lines = file.read_text().split("\n")[:-1] if file.exists() else []
        return [(line.split()[0], line.split()[1]) for line in lines]

    @property
    def stages(self) -> list[str]:
        """The stages of these runs, each once, in order."""
        return list(dict.fromkeys(stage for stage, _ in self.calls))


@pytest.fixture
def site(terminal: Terminal) -> Site:
    return Site(terminal)


FLAKY = """
(set -C; echo "$PHASELINE_INSTANCE" > "$FOLDER/chosen") 2>/dev/null
[ "$(cat "$FOLDER/chosen")" = "$PHASELINE_INSTANCE" ] || exit 0
[ "$(grep -c "$PHASELINE_INSTANCE" "$FOLDER/calls")" -ge 3 ]
"""
"""Fails twice on whichever instance comes first."""


def test_f29_only_the_instance_that_failed_is_tried_again(site: Site) -> None:
    site.enable(task("post_deployment", "flaky", retries=2), flaky=FLAKY)
    assert site.install() == 0
    assert sorted(Counter(instance for _, instance in site.calls).values()) == [1, 1, 3]


BROKEN = '[ -f "$FOLDER/fixed" ] || { echo "no route"; exit 7; }'


def test_f30_f33_a_failure_stops_what_comes_next_and_a_retry_goes_on_there(site: Site) -> None:
    tasks = task("post_deployment/1", "a") + task("post_deployment/2", "b", retries=0) + task("post_deployment/3", "a")
    site.enable(tasks, a="", b=BROKEN)
    assert site.install() == 1
    assert site.stages == ["post_deployment/1", "post_deployment/2"], "the third never ran"
    assert "net-1.0.2: tasks.yaml task 2 (post_deployment/2) on web_" in site.failures
    assert "exit code 7; its last lines:\n    no route" in site.failures
    assert site.terminal.ask("executions", "show", "install-1")[1]["status"] == "failed"
    (site.folder / "fixed").touch()
    before = len(site.calls)
    assert site.retry() == 0
    assert Counter(stage for stage, _ in site.calls[before:]) == {"post_deployment/2": 3, "post_deployment/3": 3}


def test_what_has_never_completed_an_install_may_get_a_package_that_is_not_hot_pluggable(site: Site) -> None:
    site.enable(task("post_deployment", "b", retries=0), b=BROKEN)
    enable, disable = (("deployments", "plugins", word, "shop", "net") for word in ("enable", "disable"))
    assert site.install() == 1
    site.ok(*disable)
    site.ok(*enable)
    (site.folder / "fixed").touch()
    assert site.retry() == 0
    site.ok(*disable)
    assert site.terminal.ask(*enable)[1]["problems"][0]["code"] == "PL-F067"
    site.ok("executions", "start", "uninstall", "-d", "shop")
    site.ok(*enable)


def test_f31_a_failure_that_does_not_matter_lets_the_next_task_run(site: Site) -> None:
    tasks = task("pre_deployment/1", "b", retries=0) + "  fail_on_error: false\n" + task("pre_deployment/2", "a")
    site.enable(tasks, a="", b=BROKEN)
    assert site.install() == 0
    assert site.stages == ["pre_deployment/1", "pre_deployment/2"]
    assert "exit code 7" in site.ok("executions", "show", "install-1")


def test_f32_what_takes_too_long_is_ended_and_fails(site: Site) -> None:
    slow = 'sleep 30 & echo $! >> "$FOLDER/pids"; wait'
    site.enable(task("pre_deployment", "slow", timeout=1) + task("pre_deployment/1", "a"), slow=slow, a="")
    assert site.install() == 1
    assert "timed out after 1 s; what it had started was ended" in site.failures
    for _ in range(30):  # a second may be over before the scripts are begun
        if site.stages:
            break
        assert site.retry() == 1
    assert site.stages == ["pre_deployment"]
    assert not (site.folder / "pids").exists() or living(site.folder / "pids") == []


def test_f27_what_is_stored_with_the_execution_is_what_runs_whatever_becomes_of_the_package(site: Site) -> None:
    site.enable(task("post_deployment", "b", retries=0), b=BROKEN)
    assert site.install() == 1
    package = site.folder / "net"
    (package / "metadata.yaml").write_text(METADATA.replace("1.0.2", "1.0.3"))
    (package / "deployment_scripts" / "b.sh").write_text(f'#!/bin/sh\necho new >> "{site.folder}/calls"\n')
    site.ok("plugins", "update", str(package))
    (site.folder / "fixed").touch()
    code, answer = site.terminal.ask("executions", "retry", "install-1")
    assert code == 0
    assert site.stages == ["post_deployment"], "the script of before ran"
    assert "install-1 runs the tasks of net==1.0.2, with which it was made; net==1.0.3 is for" in answer["notices"][0]


def test_a_reboot_of_the_engine_s_machine_is_refused(site: Site) -> None:
    site.enable(
        task("post_deployment", "a").replace("type: shell", "type: reboot").replace("    cmd: ./a.sh\n", ""), a=""
    )
    assert site.install() == 1
    assert "net-1.0.2: tasks.yaml task 1 (post_deployment) on web_" in site.failures
    assert "a reboot of this machine is refused" in site.failures
