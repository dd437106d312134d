"""What every store promises (ports.Store): instance states, documents, log lines and events."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tests.store import builders as a

from phaseline.model.rows.rows import DocumentChange, EntryRemark, EventRow, LogLine, TurnPayload
from phaseline.ports.store import Store
from phaseline.store.codec import limits as bounds

Reopen = Callable[[], Store]


# instance states


def test_instances_begin_uninitialized(owned: Store) -> None:
    number, _ = a.installed(owned)
    assert owned.states(number).tolist() == [0] * 8
    assert owned.states(number).dtype == np.uint8


def test_the_last_state_of_an_instance_holds(reopen: Reopen) -> None:
    store = reopen()
    number, _ = a.installed(store)
    with store.own("test"):
        states = (a.entered(number, (1, 2), 0, 1, 2, 3), a.entered(number, (3,), 1, 3), a.entered(number, (4,), 3))
        store.commit(a.turn(states=states))
    assert reopen().states(number).tolist() == [2, 3, 2, 4, 0, 0, 0, 0]


def test_states_of_many_instances_are_kept_apart_by_deployment(reopen: Reopen) -> None:
    store = reopen()
    one, _ = a.installed(store, "one", hosts=10, apps=250)
    two, _ = a.installed(store, "two")
    everyone = tuple(range(2_510))
    with store.own("test"):
        store.commit(a.turn(states=(a.entered(one, (7,), *everyone[::-3]), a.entered(two, (5,), 7))))
        store.commit(a.turn(states=(a.entered(one, (8,), 2_509, 999, 1_000),)))
    store = reopen()
    expected = np.zeros(2_510, np.uint8)
    expected[list(everyone[::-3])] = 7
    expected[[2_509, 999, 1_000]] = 8
    assert store.states(one).tolist() == expected.tolist()
    assert store.states(two).tolist() == [0] * 7 + [5]


def test_what_a_reader_does_with_its_states_does_not_change_the_store(owned: Store) -> None:
    number, _ = a.installed(owned)
    owned.states(number)[:] = 9
    assert not owned.states(number).any()


# documents


def test_two_changes_to_one_instance_in_one_turn_both_hold(reopen: Reopen) -> None:
    store = reopen()
    number, _ = a.installed(store)
    with store.own("test"):
        store.commit(
            a.written(
                DocumentChange(number, 3, {("ip",): "10.0.0.1", ("net", "a", "b"): [1]}),
                DocumentChange(number, 3, {("net", "c"): None, ("id",): "m-1"}),
                DocumentChange(number, 4, {("id",): "m-2"}),
            )
        )
    assert reopen().documents(number) == {
        3: {"ip": "10.0.0.1", "net": {"a": {"b": [1]}, "c": None}, "id": "m-1"},
        4: {"id": "m-2"},
    }


def test_removed_paths_are_gone_and_others_stay(owned: Store) -> None:
    number, _ = a.installed(owned)
    owned.commit(a.written(DocumentChange(number, 0, {("a", "b"): 1, ("a", "c"): 2, ("d",): 3})))
    owned.commit(a.written(DocumentChange(number, 0, {("e",): 4}, [("a", "b"), ("d",), ("x", "y"), ("e", "z")])))
    assert owned.documents(number) == {0: {"a": {"c": 2}, "e": 4}}


def test_what_is_removed_and_written_in_one_change_is_written(owned: Store) -> None:
    number, _ = a.installed(owned)
    owned.commit(a.written(DocumentChange(number, 0, {("a", "b"): 1})))
    owned.commit(a.written(DocumentChange(number, 0, {("a", "c"): 2}, [("a",)])))
    assert owned.documents(number) == {0: {"a": {"c": 2}}}


def test_a_level_in_the_way_gives_place(owned: Store) -> None:
    number, _ = a.installed(owned)
    owned.commit(a.written(DocumentChange(number, 0, {("a",): "text"})))
    owned.commit(a.written(DocumentChange(number, 0, {("a", "b"): 1})))
    assert owned.documents(number) == {0: {"a": {"b": 1}}}


def test_the_empty_path_is_the_whole_document(owned: Store) -> None:
    number, _ = a.installed(owned)
    owned.commit(a.written(DocumentChange(number, 0, {("a",): 1}), DocumentChange(number, 1, {("a",): 1})))
    owned.commit(a.written(DocumentChange(number, 0, {(): {"b": 2}}), DocumentChange(number, 1, {}, [()])))
    assert owned.documents(number) == {0: {"b": 2}}


def test_only_instances_that_have_properties_are_given(owned: Store) -> None:
    number, _ = a.installed(owned)
    owned.commit(a.written(*(DocumentChange(number, at, {("n",): at}) for at in range(5))))
    owned.commit(a.written(DocumentChange(number, 2, {}, [("n",)])))
    assert owned.documents(number, [7, 4, 2, 0]) == {0: {"n": 0}, 4: {"n": 4}}
    assert owned.documents(number, np.array([1], np.int32)) == {1: {"n": 1}}  # type: ignore[arg-type]  # arrays serve too
    assert owned.documents(number, []) == {}
    assert list(owned.documents(number)) == [0, 1, 3, 4]


def test_documents_are_not_shared_with_those_who_wrote_or_read_them(owned: Store) -> None:
    number, _ = a.installed(owned)
    handed_in = {"list": [1]}
    owned.commit(a.written(DocumentChange(number, 0, {("a",): handed_in})))
    handed_in["list"].append(2)
    owned.documents(number)[0]["b"] = 3
    assert owned.documents(number) == {0: {"a": {"list": [1]}}}


@pytest.mark.parametrize("text", ["ä €", "\x00", "\ud800 alone", "\U0001f680", "'; drop table log; --", ""])
def test_any_text_a_plugin_writes_can_be_stored(owned: Store, text: str) -> None:
    number, run = a.installed(owned)
    owned.commit(
        a.turn(
            graphs=(a.added(1, run, a.graph()),),
            payload=TurnPayload(
                documents=[DocumentChange(number, 0, {(text,): text})],
                remarks=[EntryRemark(1, 0, text, {"traceback": text}, text)],
                logs=[LogLine(run, 1, "info", text)],
                events=[EventRow(run, 1, "failed", text)],
            ),
        )
    )
    assert owned.documents(number) == {0: {text: text}}
    assert owned.notes(1)[0].result == text
    shown = text.encode("utf-8", "backslashreplace").decode()
    assert owned.notes(1)[0].message == owned.logs(run)[0].text == owned.events(run)[0].message == shown


# logs and events


def test_lines_are_numbered_within_their_execution(reopen: Reopen) -> None:
    store = reopen()
    _, first = a.installed(store, "one")
    _, second = a.installed(store, "two")
    for text in ("a", "b"):
        lines = [
            LogLine(first, 1, "info", text, 3, "op"),
            LogLine(second, 2, "error", text),
            LogLine(first, 3, "info", text),
        ]
        with store.own("test"):
            store.commit(a.turn(payload=TurnPayload(logs=lines)))
        store = reopen()
    assert store.logs(second) == [
        LogLine(second, 2, "error", "a", sequence=1),
        LogLine(second, 2, "error", "b", sequence=2),
    ]
    assert [(line.sequence, line.text) for line in store.logs(first, after=1, limit=2)] == [(2, "a"), (3, "b")]
    assert [line.sequence for line in store.logs(first, instance=3)] == [1, 3]


def test_events_are_numbered_within_their_execution(owned: Store) -> None:
    _, run = a.installed(owned)
    event = EventRow(run, 5, "execution_started", "started", -1, "", "ann")
    owned.commit(a.turn(payload=TurnPayload(events=[event, event, event])))
    assert owned.events(run, after=1, limit=1) == [replace(event, sequence=2)]


def test_of_the_lines_of_an_execution_the_oldest_go_first(owned: Store) -> None:
    _, run = a.installed(owned)
    extra = bounds.DROPPED_TOGETHER + 10
    total = bounds.LOG_LINES_KEPT + extra
    for first in range(0, total, 25_000):
        lines = [LogLine(run, at, "info", "x") for at in range(first, min(total, first + 25_000))]
        owned.commit(a.turn(payload=TurnPayload(logs=lines)))
    kept = owned.logs(run, limit=total)
    assert kept[-1].sequence == total
    assert bounds.LOG_LINES_KEPT <= len(kept) < bounds.LOG_LINES_KEPT + bounds.DROPPED_TOGETHER
    assert kept[0].sequence == total - len(kept) + 1


def test_long_texts_are_cut_and_say_so(owned: Store) -> None:
    _, run = a.installed(owned)
    long = "x" * 99_999 + "END"
    payload = TurnPayload(remarks=[EntryRemark(1, 0, long, {"traceback": long})], logs=[LogLine(run, 1, "info", long)])
    owned.commit(a.turn(graphs=(a.added(1, run, a.graph()),), payload=payload))
    (note,) = owned.notes(1)
    assert len(note.message) < bounds.MESSAGE_LENGTH + 50
    assert note.message.endswith("more characters)")
    assert len(note.error["traceback"]) < bounds.TRACEBACK_LENGTH + 50
    assert note.error["traceback"].endswith("END")
    assert len(owned.logs(run)[0].text) < bounds.LOG_TEXT_LENGTH + 50
