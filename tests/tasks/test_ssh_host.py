"""Shell tasks on hosts: against a real sshd where there is one, and against asyncssh's server in a process of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.run.worlds import World
from tests.tasks.servers import KINDS, PASSWORD, Server, server
from tests.tasks.tasked import living, pids_in, script, world

from phaseline.model.graph.status import OutcomeKind
from phaseline.tasks.host_keys import HostKeys

Make = Callable[..., World]


@pytest.fixture(scope="module", params=KINDS)
def sshd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(request.param, tmp_path_factory.mktemp("ssh") / "server") as running:
        yield running


@pytest.fixture
def make(tmp_path: Path, sshd: Server) -> Iterator[Make]:
    made: list[World] = []

    def build(
        parameters: dict[str, Any], *, properties: dict[str, Any] | None = None, trusted: bool = True, **fields: Any
    ) -> World:
        config = {**sshd.agent_config, **(properties or {}).pop("agent_config", {})}
        host = {"ip": "127.0.0.1", "agent_config": config, **(properties or {})}
        rules = fields.pop("host_keys", None) or HostKeys("known", str(tmp_path / "known_hosts"))
        if trusted:
            (tmp_path / "known_hosts").write_text(f"[127.0.0.1]:{sshd.port} {sshd.host_key}\n")
        made.append(world(tmp_path, parameters, host=host, host_keys=rules, **fields))
        return made[-1]

    yield build
    for one in made:
        one.close()


def test_d25_a_task_runs_on_the_host_of_its_instance(make: Make, sshd: Server, tmp_path: Path) -> None:
    script(tmp_path, "deploy.sh", 'pwd; echo "$PHASELINE_INSTANCE"; echo oh >&2; exit 3')
    answer = make({"cmd": "./deploy.sh"}).run(1)
    assert answer.kind is OutcomeKind.RETRY
    assert sorted(answer.lines) == ["<err> oh", f"<out> {sshd.home}/.phaseline/app/web_1/net-1.0.2", "<out> web_1"]
    shown = f"web_1 ({sshd.user}@127.0.0.1:{sshd.port})"
    assert f"(post_deployment/100) on web_1: exit code 3 on {shown}; its last lines:\n" in answer.message


def test_f32_a_task_on_a_host_that_takes_too_long_is_ended_with_its_children(
    make: Make, sshd: Server, tmp_path: Path
) -> None:
    script(
        tmp_path,
        "slow.sh",
        f"sleep 60 & echo $! > {tmp_path}/pids\nsetsid sleep 61 & echo $! >> {tmp_path}/pids\nsleep 62",
    )
    for timeout in (1, 5, 25):  # a slow machine may not even come to begin it in time
        answer = make({"cmd": "./slow.sh", "timeout": timeout}).run(1)
        assert answer.kind is OutcomeKind.FAILED
        if (tmp_path / "pids").exists() and len(pids_in(tmp_path / "pids")) == 2:
            break
    assert f"timed out after {timeout} s; what it had started was ended" in answer.message
    assert len(pids_in(tmp_path / "pids")) == 2
    assert living(tmp_path / "pids") == []


def test_d2_a_kill_reaches_the_processes_on_the_host(make: Make, tmp_path: Path) -> None:
    made = make({"cmd": f"sleep 60 & echo $! > {tmp_path}/pids; echo ready; wait"})
    batch = made.batch(1)
    made.executor.submit(batch)
    answer = made.wait_for_line("ready")
    made.executor.cancel(batch.id, np.array([0]), kill=True)
    made.wait(1, answer)
    assert answer.message == "its processes were ended on request"
    assert living(tmp_path / "pids") == []


def test_tasks_on_one_host_share_a_connection_and_those_after_them_too(make: Make, sshd: Server) -> None:
    made, before = make({"cmd": "true"}, instances=3), sshd.connections
    assert set(made.run(1, 2, 3).kinds.values()) == {OutcomeKind.COMPLETED}
    assert set(made.run(1, 2, 3).kinds.values()) == {OutcomeKind.COMPLETED}
    assert sshd.connections == before + 1


def test_more_than_a_server_takes_on_one_connection_get_others(make: Make, sshd: Server) -> None:
    gate = 'n=0; while [ "$(ls ../.. | wc -l)" -lt 9 ] && [ $n -lt 1200 ]; do n=$((n+1)); sleep 0.05; done; [ $n -lt 1200 ]'
    made, before = make({"cmd": gate}, instances=9, scripts=""), sshd.connections
    assert set(made.run(*range(1, 10)).kinds.values()) == {OutcomeKind.COMPLETED}, "each waits for all others"
    assert sshd.connections == before + 2


def test_an_unknown_host_key_is_refused_and_it_is_said_how_to_trust_it(make: Make, sshd: Server) -> None:
    answer = make({"cmd": "true"}, trusted=False).run(1)
    assert answer.kind is OutcomeKind.FAILED
    assert "its host key ssh-ed25519 SHA256:" in answer.message
    assert "is not known: check it and add it to" in answer.message
    assert f"ssh-keyscan -p {sshd.port} 127.0.0.1" in answer.message


def test_a_host_that_is_seen_for_the_first_time_may_be_remembered(make: Make, sshd: Server, tmp_path: Path) -> None:
    rules = HostKeys("accept_new", str(tmp_path / "new" / "known_hosts"))
    assert make({"cmd": "true"}, trusted=False, host_keys=rules).run(1).kind is OutcomeKind.COMPLETED
    assert rules.path.read_text() == f"[127.0.0.1]:{sshd.port} {sshd.host_key}\n"


@pytest.mark.parametrize("policy", ["known", "accept_new"])
def test_a_host_whose_key_has_changed_is_refused(make: Make, tmp_path: Path, sshd: Server, policy: Any) -> None:
    import asyncssh

    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key("openssh").decode()
    (tmp_path / "other").write_text(f"[127.0.0.1]:{sshd.port} {other}")
    answer = make({"cmd": "true"}, host_keys=HostKeys(policy, str(tmp_path / "other"))).run(1)
    assert answer.kind is OutcomeKind.FAILED
    assert f"differs from the one in {tmp_path}/other: the connection may be intercepted" in answer.message
    assert "ssh-keygen -R" in answer.message


def test_all_hosts_may_be_trusted(make: Make, tmp_path: Path) -> None:
    rules = HostKeys("any", str(tmp_path / "none"))
    assert make({"cmd": "true"}, trusted=False, host_keys=rules).run(1).kind is OutcomeKind.COMPLETED


def test_the_blueprint_may_say_which_key_the_host_has(make: Make, sshd: Server) -> None:
    config = {"extra": {"host_key": sshd.host_key}}
    assert (
        make({"cmd": "true"}, trusted=False, properties={"agent_config": config}).run(1).kind is OutcomeKind.COMPLETED
    )
    wrong = sshd.host_key[:-6] + "AAAAAA"
    answer = make({"cmd": "true"}, properties={"agent_config": {"extra": {"host_key": wrong}}}).run(1)
    assert "not the one that its host_key names" in answer.message


def test_a_key_may_be_a_file(make: Make, sshd: Server, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(sshd.key)
    config = {"key": str(tmp_path / "key")}
    assert make({"cmd": "true"}, properties={"agent_config": config}).run(1).kind is OutcomeKind.COMPLETED


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"key": "/no/such/file"}, "the key file of its agent_config cannot be read"),
        ({"key": "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----\n"}, "is no private key"),
        ({"user": ""}, "names no user to log in as"),
        ({"user": "nobody-here"}, "refuses the login"),
        ({"key": "", "password": "wrong"}, "refuses the login"),
    ],
)
def test_who_cannot_log_in_is_told_why_and_not_tried_again(make: Make, config: dict[str, Any], said: str) -> None:
    answer = make({"cmd": "true"}, properties={"agent_config": config}).run(1)
    assert answer.kind is OutcomeKind.FAILED
    assert said in answer.message
    assert "PRIVATE KEY" not in answer.message
    assert "wrong" not in answer.message


def test_a_host_that_is_not_there_is_tried_again(make: Make, tmp_path: Path) -> None:
    answer = make({"cmd": "true"}, properties={"agent_config": {"port": 1}}).run(1)
    assert answer.kind is OutcomeKind.RETRY
    assert "cannot be reached" in answer.message


def test_a_host_without_an_address_says_how_to_go_on(make: Make) -> None:
    answer = make({"cmd": "true"}, properties={"ip": ""}).run(1)
    assert answer.kind is OutcomeKind.FAILED
    assert "the host vm_1 has no address" in answer.message
    assert "agent_config.install_method to none" in answer.message


def test_a_password_lets_in_too(tmp_path: Path) -> None:
    with server("asyncssh", tmp_path / "server") as running:
        config = {**running.agent_config, "key": "", "password": PASSWORD}
        rules = HostKeys("any", str(tmp_path / "none"))
        made = world(tmp_path, {"cmd": "true"}, host={"ip": "127.0.0.1", "agent_config": config}, host_keys=rules)
        try:
            assert made.run(1).kind is OutcomeKind.COMPLETED
        finally:
            made.close()
