"""The simulated cloud counts honestly: what tokens, names, restarts and vanished callers do to its numbers."""

import io
import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from phaseline.testing.fake_cloud import BadRequest, Cloud, CloudServer, Pace, answer, open_cloud


class Hands:
    """A clock that goes on by the pauses."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def pause(self, seconds: float) -> None:
        self.now += round(seconds * 1000)


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def cloud(hands: Hands) -> Cloud:
    return Cloud(io.StringIO(), clock=lambda: hands.now, pause=hands.pause, pace=Pace(make_ms=0, boot_ms=700))


def wanted(*tokens: str, name: str = "") -> list[dict[str, str]]:
    return [{"token": token, "name": name or f"machine of {token}", "kind": "machine"} for token in tokens]


def test_each_request_makes_one_resource_in_order(cloud: Cloud) -> None:
    made = cloud.create(wanted("a", "b"))
    assert [resource["id"] for resource in made] == ["machine-00001", "machine-00002"]


def test_a_token_seen_before_gives_the_resource_of_the_first_time(cloud: Cloud) -> None:
    first = cloud.create(wanted("a"))
    assert cloud.create(wanted("a", "b"))[0] == first[0]
    report = cloud.report()
    assert (report.created, report.tokens_again, report.doubles) == (2, 1, [])


def test_two_tokens_for_one_name_are_a_double(cloud: Cloud) -> None:
    cloud.create(wanted("a", name="web"))
    cloud.create(wanted("b", name="web"))
    assert cloud.report().doubles == ["web"]


def test_beyond_its_quota_it_refuses_until_one_is_deleted(cloud: Cloud) -> None:
    cloud.pace = Pace(quota=2)
    first, second, third = cloud.create(wanted("a", "b", "c"))
    assert (second["state"], third) == (
        "booting",
        {"id": "", "state": "refused", "reason": "the quota of 2 resources is used up"},
    )
    assert cloud.create(wanted("a"))[0]["id"] == first["id"]  # what is there is given back, quota or not
    cloud.delete([first["id"]])
    assert cloud.create(wanted("c"))[0]["state"] == "booting"
    assert cloud.report().alive == 2


def test_one_call_is_counted_whatever_it_asks_for(cloud: Cloud) -> None:
    made = cloud.create(wanted(*map(str, range(500))))
    cloud.describe([resource["id"] for resource in made])
    cloud.delete([resource["id"] for resource in made])
    assert cloud.report().calls == {"create": 1, "delete": 1, "describe": 1}


def test_a_machine_boots_in_its_time(cloud: Cloud, hands: Hands) -> None:
    id = cloud.create(wanted("a"))[0]["id"]
    states = []
    for _ in range(3):
        states.append(cloud.describe([id])[0]["state"])
        hands.pause(0.4)
    assert states == ["booting", "booting", "running"]


def test_what_was_never_made_is_unknown(cloud: Cloud) -> None:
    assert cloud.describe(["machine-99999"]) == [{"id": "machine-99999", "state": "unknown"}]


def test_deleting_twice_deletes_once(cloud: Cloud) -> None:
    ids = [resource["id"] for resource in cloud.create(wanted("a", "b"))]
    assert [cloud.delete([*ids, ids[0]]), cloud.delete(ids)] == [2, 0]
    report = cloud.report()
    assert (report.alive, report.deleted, report.alive_by_kind) == (0, 2, {})


def test_a_caller_who_goes_away_leaves_behind_what_was_made_until_then(cloud: Cloud) -> None:
    cloud.pace = Pace(make_ms=5)
    patience = iter([True, True, False])
    cloud.create(wanted("a", "b", "c"), lambda: next(patience))
    assert cloud.report().created == 2


def test_a_slow_cloud_takes_its_time_for_new_machines_only(cloud: Cloud, hands: Hands) -> None:
    cloud.create(wanted("a"))
    cloud.pace, begun = Pace(make_ms=5), hands.now
    cloud.create(wanted("a", "b", "c"))
    assert hands.now - begun == 10


def test_the_report_tells_whether_a_call_is_still_making_machines(cloud: Cloud) -> None:
    seen = []
    cloud.create(wanted("a"), lambda: bool(seen.append(cloud.report().making)) or True)
    assert [*seen, cloud.report().making] == [1, 0]


def test_a_new_process_goes_on_with_the_state_file(tmp_path: Path) -> None:
    state = tmp_path / "cloud.jsonl"
    with open_cloud(state, Pace()) as first:
        first.create(wanted("a", "b"))
        first.delete(["machine-00001"])
    with open_cloud(state, Pace()) as second:
        assert second.report() == first.report()


def test_it_stands_still_when_it_has_made_enough_until_its_pace_changes(cloud: Cloud) -> None:
    made: list[int] = []

    def look(_: float) -> None:
        made.append(cloud.report().created)
        cloud.pace = Pace(make_ms=1) if len(made) == 9 else cloud.pace

    cloud.pace, cloud.pause = Pace(make_ms=1, most=2), look
    cloud.create(wanted("a", "b", "c"))
    assert made == [0, 1, 2, 2, 2, 2, 2, 2, 2, 2], "nothing is made, however often it looks"
    assert cloud.report().created == 3


def test_a_line_cut_off_by_a_kill_is_forgotten(tmp_path: Path) -> None:
    state = tmp_path / "cloud.jsonl"
    with open_cloud(state, Pace()) as first:
        first.create(wanted("a"))
    state.write_bytes(state.read_bytes() + b'{"create": {"id": "mach')
    with open_cloud(state, Pace()) as second:
        second.create(wanted("b"))
    with open_cloud(state, Pace()) as third:
        assert third.report().created == 2


@pytest.mark.parametrize(("verb", "body"), [("POST /destroy", {}), ("POST /create", {}), ("PUT /pace", {"speed": 1})])
def test_what_cannot_be_understood_is_refused(cloud: Cloud, verb: str, body: dict[str, object]) -> None:
    with pytest.raises(BadRequest):
        answer(cloud, verb, body)


@pytest.fixture
def server(cloud: Cloud) -> Iterator[CloudServer]:
    with CloudServer(cloud) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def call(url: str, body: object = None, method: str = "POST") -> dict[str, object]:
    request = urllib.request.Request(url, json.dumps(body).encode() if body else None, method=method)
    with urllib.request.urlopen(request) as response:
        found: dict[str, object] = json.load(response)
        return found


def test_the_same_over_http(server: CloudServer) -> None:
    call(server.url + "/create", {"requests": wanted(*map(str, range(1000)))})
    call(server.url + "/pace", {"make_ms": 1}, method="PUT")
    report = call(server.url + "/report", method="GET")
    assert (report["created"], report["calls"], server.cloud.pace) == (1000, {"create": 1}, Pace(1, 700))


def test_a_mistake_is_told_to_the_caller(server: CloudServer) -> None:
    with pytest.raises(urllib.error.HTTPError) as error:
        call(server.url + "/create", {"machines": 1})
    with error.value as response:
        assert (response.code, json.load(response)) == (400, {"error": "POST /create: 'requests'"})


def test_a_caller_killed_while_it_waits_is_noticed(cloud: Cloud) -> None:
    at_work, hung_up = threading.Event(), threading.Event()

    def make_one(_: float) -> None:
        at_work.set()
        hung_up.wait(60)

    cloud.pace, cloud.pause = Pace(make_ms=1), make_one
    body = json.dumps({"requests": wanted(*map(str, range(5)))}).encode()
    with CloudServer(cloud) as server:
        server.daemon_threads = False  # closing the server waits for its answer
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with socket.create_connection(server.server_address[:2]) as caller:
            caller.sendall(b"POST /create HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            assert at_work.wait(60)
        hung_up.set()
        thread.join()
    assert cloud.report().created == 1
