"""Tasks that call Puppet, Python functions and reboots, and tasks that are about no instance."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.run.worlds import World
from tests.tasks.servers import KINDS, server
from tests.tasks.tasked import RUNNERS, script, world

from phaseline.model.graph.status import OutcomeKind
from phaseline.tasks.task_types import BOOT_KEY

Make = Callable[..., World]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[World] = []

    def build(runner: str, parameters: dict[str, Any], **fields: Any) -> World:
        made.append(world(tmp_path, parameters, runner=runner, **fields))
        return made[-1]

    yield build
    for one in made:
        one.close()


PUPPET = {"puppet_manifest": "puppet/site.pp", "puppet_modules": "puppet/modules:/etc/puppet/modules"}


def puppet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """A program of this name that says how it was called and ends with a code."""
    script(tmp_path, "bin/puppet", f'echo "$@"; cat puppet/site.pp; exit {code}')
    script(tmp_path, "puppet/site.pp", "notify { it: }")
    monkeypatch.setenv("PATH", f"{tmp_path}/package/scripts/bin:/usr/bin:/bin")


@pytest.mark.parametrize(
    ("code", "kind"),
    [(0, OutcomeKind.COMPLETED), (2, OutcomeKind.COMPLETED), (4, OutcomeKind.RETRY), (6, OutcomeKind.RETRY)],
)
def test_puppet_is_applied_and_what_it_could_not_do_is_a_failure(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, kind: OutcomeKind
) -> None:
    puppet(tmp_path, monkeypatch, code)
    answer = make(RUNNERS["puppet"], PUPPET).run(1)
    assert answer.kind is kind
    assert answer.lines[0] == (
        "<out> apply --detailed-exitcodes --modulepath=puppet/modules:/etc/puppet/modules puppet/site.pp"
    )


def test_where_puppet_is_absent_that_is_said(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    answer = make(RUNNERS["puppet"], PUPPET).run(1)
    assert answer.kind is OutcomeKind.FAILED
    assert "puppet is not installed on this machine: install it there before" in answer.message


OWN = """
def configure(item):
    item.log.info(f"{item.instance_id} {item.inputs}")
    item.runtime_properties["mtu"] = item.inputs["mtu"]
    if item.inputs["mtu"] > 9000:
        item.fail("too large", retry=True)
"""


def test_a_function_of_the_package_is_called_with_an_item(make: Make, tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "acme_net.py").write_text(OWN)
    made = make(RUNNERS["python"], {"function": "acme_net:configure", "inputs": {"mtu": 9000}})
    answer = made.run(1)
    assert answer.kind is OutcomeKind.COMPLETED
    assert answer.lines == ["web_1 {'mtu': 9000}"]
    assert [change.written for change in answer.documents] == [{("mtu",): 9000}]


def test_what_a_function_of_the_package_says_is_its_outcome(make: Make, tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "acme_net.py").write_text(OWN)
    answer = make(RUNNERS["python"], {"function": "acme_net:configure", "inputs": {"mtu": 9001}}).run(1)
    assert (answer.kind, answer.message) == (OutcomeKind.RETRY, "too large")


@pytest.mark.parametrize("name", ["configure", "a:b:c", ""])
def test_a_function_without_a_module_is_refused(make: Make, name: str) -> None:
    answer = make(RUNNERS["python"], {"function": name}).run(1)
    assert answer.kind is OutcomeKind.FAILED
    assert "module:function" in answer.message


def test_a_reboot_of_this_machine_is_refused(make: Make) -> None:
    answer = make(RUNNERS["note_boot"], {"timeout": 300}).run(1)
    assert answer.kind is OutcomeKind.FAILED
    assert "a reboot of this machine is refused" in answer.message


def test_after_a_reboot_it_is_awaited_that_the_host_is_back(make: Make, tmp_path: Path) -> None:
    with server(KINDS[0], tmp_path / "server") as running:
        host = {"ip": "127.0.0.1", "agent_config": {**running.agent_config, "extra": {"host_key": running.host_key}}}
        noted = make(RUNNERS["note_boot"], {}, host=host, scripts="").run(1)
        assert noted.kind is OutcomeKind.COMPLETED
        (change,) = noted.documents
        assert change.written == {(BOOT_KEY,): Path("/proc/sys/kernel/random/boot_id").read_text().strip()}
        waiting = make(RUNNERS["await_boot"], {}, host=host, scripts="")
        waiting.deployments.loaded(waiting.deployment).apply(1, change.written, ())
        answer = waiting.run(1)
        assert answer.kind is OutcomeKind.AGAIN, "it is the boot of before"
        assert "is not back yet" in answer.message
        waiting.deployments.loaded(waiting.deployment).apply(1, {(BOOT_KEY,): "another"}, ())
        back = waiting.run(1)
        assert back.kind is OutcomeKind.COMPLETED
        assert back.documents[0].removed == ((BOOT_KEY,),)


def test_a_host_that_is_down_after_a_reboot_is_waited_for(make: Make) -> None:
    host = {"ip": "127.0.0.1", "agent_config": {"install_method": "remote", "user": "ann", "port": 1}}
    assert make(RUNNERS["await_boot"], {}, host=host).run(1).kind is OutcomeKind.AGAIN
    assert make(RUNNERS["await_boot"], {"timeout": 0.001}, host=host).run(1).kind in {
        OutcomeKind.AGAIN,
        OutcomeKind.FAILED,
    }
