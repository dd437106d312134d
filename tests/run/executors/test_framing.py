"""Messages arrive whole, and calls come out of their letters as they went in."""

import json
import os
import selectors
import socket
import threading
from pathlib import Path

import pytest
from tests.run.worlds import CREATE, World, make_blueprint

from phaseline.calls.protocol.call import Outcome
from phaseline.calls.protocol.call_codec import (
    read_call,
    read_changes,
    read_outcome,
    read_site,
    write_call,
    write_changes,
    write_outcome,
    write_site,
)
from phaseline.model.graph.status import OutcomeKind
from phaseline.run.executors.framing import LONG_MESSAGE_BYTES, Closed, Wire, written
from phaseline.run.executors.worker_process import OutputPipe
from phaseline.testing.builders import node, operation


@pytest.fixture
def ends():
    one, two = (Wire(end) for end in socket.socketpair())
    yield one, two
    one.close()
    two.close()


def test_messages_of_any_size_arrive_in_order(ends: tuple[Wire, Wire]) -> None:
    one, two = ends
    messages = [{"n": number, "text": "ä\ud800" * size} for number, size in enumerate((0, 1, 200_000))]
    sender = threading.Thread(target=lambda: [one.send(message) for message in messages])
    sender.start()
    assert [two.receive() for _ in messages] == messages
    sender.join()


def test_an_end_that_closes_is_noticed(ends: tuple[Wire, Wire]) -> None:
    one, two = ends
    one.close()
    with pytest.raises(Closed):
        two.receive()


def test_a_length_that_is_no_length_closes(ends: tuple[Wire, Wire]) -> None:
    raw, wire = socket.socketpair()
    raw.sendall(b"\xff\xff\xff\xff")
    with pytest.raises(Closed):
        Wire(wire).receive()
    raw.close()
    wire.close()


def test_a_call_survives_its_letter(tmp_path: Path) -> None:
    create = operation(CREATE, "cloud.create", inputs={"a": [1, {"b": None}]}, max_retries=3, timeout_s=1.5)
    world = World(tmp_path, make_blueprint(node("vm", create=create, properties={"size": 3})))
    from phaseline.calls.batches.batch_handover import BatchHandover

    class Silent:
        def token(self, call: object) -> str:
            return "t-1"

    handover = BatchHandover(world.batch(0, attempts=2), world.deployments)
    call = handover.call_of(0, Silent())  # type: ignore[arg-type]  # only the token is asked for
    letter = json.loads(json.dumps(write_call(call, inputs={"a": 1}, mark="m")))
    site = read_site(json.loads(json.dumps(write_site(call.site))))
    read = read_call(letter, site, call.channel, call.world)
    assert read.site == call.site
    assert (read.attempt, read.member, read.instance.id) == (2, 0, "vm_1")
    assert letter["token"] == "t-1"
    world.close()


def test_outcomes_and_changes_survive() -> None:
    outcome = Outcome(OutcomeKind.RETRY, 5, "busy", {"type": "E", "traceback": "t"}, [1])
    assert read_outcome(json.loads(json.dumps(write_outcome(outcome)))) == outcome
    changes = [(3, {("a", "b"): 1, ("c",): None}, (("d",),))]
    assert read_changes(json.loads(json.dumps(write_changes(changes)))) == changes


def test_what_another_thread_has_closed_is_at_an_end_and_no_mistake() -> None:
    """An engine that is told twice to leave closes its workers while threads still attend to them."""
    ours, theirs = socket.socketpair()
    wire = Wire(ours)
    wire.close()
    theirs.close()
    with pytest.raises(Closed):
        wire.fileno()
    with selectors.DefaultSelector() as selector, pytest.raises(Closed):
        selector.register(wire, selectors.EVENT_READ)
    reading, writing = os.pipe()
    os.close(writing)
    with open(reading, "rb") as pipe:  # noqa: PTH123 - a number
        output = OutputPipe(pipe, "<out> ")
    said: list[str] = []
    output.finish(lambda _, line: said.append(line))
    assert said == []


def test_messages_that_arrive_together_and_in_pieces_are_received_one_after_the_other() -> None:
    ours, theirs = socket.socketpair()
    wire, other = Wire(ours), Wire(theirs)
    for number in range(3):
        other.send({"number": number, "text": "x" * number})
    assert [wire.receive()["number"] for _ in range(2)] == [0, 1]
    assert wire.has_message()
    assert (wire.receive()["text"], wire.has_message()) == ("xx", False)
    body = b'{"whole":true}'
    theirs.sendall(len(body).to_bytes(4, "big") + body[:5])
    sender = threading.Thread(target=theirs.sendall, args=(body[5:],))
    sender.start()
    assert wire.receive() == {"whole": True}
    sender.join()
    wire.close()
    other.close()


def test_a_list_that_is_too_long_for_one_message_comes_in_several_and_whole(ends: tuple[Wire, Wire]) -> None:
    one, two = ends
    values = [{"n": number, "text": "x" * (LONG_MESSAGE_BYTES // 3)} for number in range(5)]
    sender = threading.Thread(target=one.send_list, args=("calls", [written(value) for value in values]))
    sender.start()
    messages = [two.receive(), two.receive(), two.receive()]
    sender.join()
    assert [len(message["calls"]) for message in messages] == [2, 2, 1]
    assert [value for message in messages for value in message["calls"]] == values
    assert one.sent == 1
