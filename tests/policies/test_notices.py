"""An address is told what begins and how it ended: signed, and again where it was not taken. A real server takes it."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from phaseline.model.execution.pre_post import DeploymentCallKind
from phaseline.policies.notices import DELIVERY, SIGNATURE, TIMESTAMP, Notify, signature
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.hook_calls import called, deployment

ABOUT = deployment(topology(blueprint(node("web", instances=2))))


class Receiver(HTTPServer):
    """Keeps what it gets; answers with the statuses in ``answers``, then with 204."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Taking)
        self.taken: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hooks"


class Taking(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.taken.append((dict(self.headers), body))
        self.send_response(self.server.answers.pop(0) if self.server.answers else 204)
        self.end_headers()

    def log_message(self, *_given: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_it_is_told_what_begins_and_how_it_ended(receiver):
    hook = Notify(receiver.url)
    assert called(hook, ABOUT).kind == "agreed"
    assert called(hook, ABOUT, method="do_post_op", why=DeploymentCallKind.FAILED).kind == "agreed"
    began, ended = (json.loads(body) for _, body in receiver.taken)
    assert (began["deployment"], began["action"], began["phase"], began["instances"]) == ("shop", "CREATE", "pre", 2)
    assert (ended["phase"], ended["reason"], ended["is_failure"], ended["status"]) == ("post", "failed", True, "FAILED")


def test_the_signature_is_over_time_and_body(receiver):
    about = deployment(topology(blueprint(node("web"))), secrets={"hook-key": "s3cret"})
    called(Notify(receiver.url, secret="hook-key"), about)
    ((headers, body),) = receiver.taken
    assert headers[SIGNATURE] == signature("s3cret", headers[TIMESTAMP], body)
    assert headers[SIGNATURE] != signature("other", headers[TIMESTAMP], body)
    assert SIGNATURE not in _headers_without_secret(receiver)


def _headers_without_secret(receiver: Receiver) -> dict[str, str]:
    called(Notify(receiver.url), ABOUT)
    return receiver.taken[-1][0]


def test_what_is_not_taken_is_sent_again_with_the_same_id_and_body(receiver):
    hook = Notify(receiver.url, tries=3, interval_s=7)
    receiver.answers = [503]
    first = called(hook, ABOUT)
    assert (first.kind, first.after_s) == ("again", 7)
    assert first.message == "127.0.0.1 did not take the notice: status 503"
    assert called(hook, ABOUT, data=dict(first.data)).kind == "agreed"
    (one, body), (two, again) = receiver.taken
    assert one[DELIVERY] == two[DELIVERY] == "install-1-Notify-pre"
    assert body == again


def test_it_gives_up_with_a_warning_or_fails_where_it_is_required(receiver):
    receiver.answers = [500, 500]
    answer = called(Notify(receiver.url, tries=1), ABOUT)
    assert answer.kind == "agreed"
    assert answer.warnings == ("127.0.0.1 did not take the notice in 1 tries: status 500",)
    assert called(Notify(receiver.url, tries=1, required=True), ABOUT).kind == "failed"


def test_nobody_listening_is_no_traceback():
    with Receiver() as closed:
        url = closed.url
    answer = called(Notify(url, tries=1, timeout_s=5), ABOUT)
    assert answer.kind == "agreed"
    assert "did not take the notice in 1 tries" in answer.warnings[0]


def test_it_tells_only_what_it_was_asked_to(receiver):
    called(Notify(receiver.url, before=False), ABOUT)
    called(Notify(receiver.url, after=False), ABOUT, method="do_post_op", why=DeploymentCallKind.COMPLETED)
    assert receiver.taken == []


@pytest.mark.parametrize("url", ["ftp://example.org", "example.org", "http://"])
def test_what_is_no_address_is_refused_when_it_is_made(url):
    with pytest.raises(ValueError, match="is no address"):
        Notify(url)
