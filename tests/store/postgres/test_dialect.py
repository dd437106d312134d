"""Statements of SQLite in the form of PostgreSQL (rule ST4)."""

import pytest

from phaseline.store.postgres.dialect import translate


@pytest.mark.parametrize(
    ("statement", "text", "lists"),
    [
        ("select a from b where c = ?", "select a from b where c = %s", ()),
        ("where a = ? and b in (select value from json_each(?))", "where a = %s and b = any (%s)", (1,)),
        ("where b not in (select value from json_each(?)) and a = ?", "where b <> all (%s) and a = %s", (0,)),
        ("select json_extract(request, '$.workflow') from a", "select (request::json #>> '{workflow}') from a", ()),
        ("select json_extract(a.b, '$.c.d') from a", "select (a.b::json #>> '{c,d}') from a", ()),
        ("select '?' || ? || '100%' from a", "select '?' || %s || '100%%' from a", ()),
        ("select a % ? from b", "select a %% %s from b", ()),
        ("from a cross join b on a.c = b.c", "from a join b on a.c = b.c", ()),
    ],
)
def test_st4_a_statement_is_translated(statement: str, text: str, lists: tuple[int, ...]) -> None:
    found = translate(statement)
    assert (found.text, found.lists) == (text, lists)


def test_st4_lists_become_arrays_and_other_values_stay() -> None:
    found = translate("where a = ? and b in (select value from json_each(?)) and c = ?")
    assert found.values(("[1]", "[2, 3]", "x")) == ["[1]", [2, 3], "x"]
    assert translate("where a = ?").values(("[1]",)) == ("[1]",)
