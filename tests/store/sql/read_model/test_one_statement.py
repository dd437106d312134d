"""Several selects are one statement."""

import sqlite3
from contextlib import closing

import pytest

from phaseline.store.sql.read_model.one_statement import Part, WhereClause, select_together


@pytest.fixture
def db():
    with closing(sqlite3.connect(":memory:")) as found:
        found.execute("create table thing (number integer, name text, body blob)")
        found.executemany("insert into thing values (?, ?, ?)", [(1, "a", b"x"), (2, "b", b"y")])
        yield found


def test_each_part_gets_its_rows_with_its_columns(db):
    parts = [
        Part("select name, number, body from thing where number > ?", "tib", (1,)),
        Part("select number from thing", "i"),
        Part("select body from thing where name = ?", "b", ("a",)),
        Part("select name from thing where number = ?", "t", (9,)),
    ]
    found = select_together(db, parts)
    assert [sorted(rows) for rows in found] == [[("b", 2, b"y")], [(1,), (2,)], [(b"x",)], []]
    assert [sorted(rows) for rows in select_together(db, parts[1:2])] == [[(1,), (2,)]]
    assert select_together(db, []) == []


def test_conditions_have_their_values(db):
    where = WhereClause("body is not null")
    where.add("number < ?", 9)
    more = where.copy()
    more.add_beginning("name", "b")
    assert db.execute(f"select number from thing{where}", where.values).fetchall() == [(1,), (2,)]
    assert db.execute(f"select number from thing{more}", more.values).fetchall() == [(2,)]
    assert str(WhereClause()) == ""
