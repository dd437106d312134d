"""Which inserts are copied, and how (rule ST6)."""

import pytest

from phaseline.store.postgres.bulk_insert import plan

COLUMNS = {"page": ("graph", "number", "statuses")}


def test_st6_an_insert_of_all_values_is_copied_into_its_table() -> None:
    found = plan("insert into page values (?, ?, ?)", COLUMNS.__getitem__)
    assert found is not None
    assert (found.copy, found.move) == ("copy page (graph, number, statuses) from stdin", "")


def test_st6_an_insert_that_may_change_rows_goes_through_a_temporary_table() -> None:
    text = "insert into page values (?, ?, ?) on conflict (graph, number) do update set statuses = excluded.statuses"
    found = plan(text, COLUMNS.__getitem__)
    assert found is not None
    assert found.copy == f"copy {found.filled} from stdin"
    assert found.move.startswith(
        f"insert into page (graph, number, statuses) select graph, number, statuses from {found.filled}"
    )
    assert found.move.endswith("on conflict (graph, number) do update set statuses = excluded.statuses")
    assert found.distinct([(1, 0, b"a"), (1, 1, b"b"), (1, 0, b"c")]) == [(1, 0, b"c"), (1, 1, b"b")]


@pytest.mark.parametrize(
    "statement",
    [
        "update page set statuses = ? where graph = ?",
        "insert into page select ?, ?, ?",
        "insert into page values (?, ?, lower(?))",
        "insert into page values (?, ?, ?) on conflict (graph, number) do nothing",
        "insert into page values (?, ?, ?) on conflict (graph, number) do update set statuses = ''",
        "insert into page values (?, ?, ?) on conflict (graph) do update set statuses = excluded.statuses",
        "insert into page values (?, ?, ?) returning number",
    ],
)
def test_st6_other_statements_are_executed_row_by_row(statement: str) -> None:
    assert plan(statement, COLUMNS.__getitem__) is None
