"""Client tokens and marks of processes: equal for attempts, different after a retry by hand and after a restore."""

from __future__ import annotations

from phaseline.calls.batches.client_tokens import client_token, process_mark
from phaseline.model.rows.incarnations import Incarnation, Names

FIRST_LIFE = Names("ab12")
RESTORED = Names("ab12", [Incarnation(1, "c0de", 0, "restored", first_graph=7, first_batch=9)])


def test_a_token_differs_by_graph_entry_and_generation() -> None:
    tokens = {client_token(FIRST_LIFE, graph, entry, age) for graph in (1, 2) for entry in (0, 1) for age in (0, 1)}
    assert len(tokens) == 8
    assert client_token(FIRST_LIFE, 2, 1, 0) == "ab12-2-1-0"


def test_bk4_a_restored_store_makes_other_tokens_for_new_graphs_only() -> None:
    assert client_token(RESTORED, 6, 0, 0) == client_token(FIRST_LIFE, 6, 0, 0)
    assert client_token(RESTORED, 7, 0, 0) != client_token(FIRST_LIFE, 7, 0, 0)


def test_a_mark_names_the_present_life_of_the_store() -> None:
    assert process_mark(FIRST_LIFE, 4, 1) == "ab12:4:1"
    assert process_mark(RESTORED, 4, 1) == "ab12.c0de:4:1"
