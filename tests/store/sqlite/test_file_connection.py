"""What connections of SQLite have besides those of Python."""

from contextlib import closing

from phaseline.store.sqlite.database_file import connect


def test_the_highest_number_ever_given_is_known() -> None:
    with closing(connect(":memory:")) as db:
        db.execute("create table told (number integer primary key autoincrement, body text)")
        assert db.last_number("told") == 0
        db.execute("insert into told (body) values ('a'), ('b')")
        db.execute("delete from told")
        assert db.last_number("told") == 2


def test_texts_are_compared_without_upper_and_lower_case() -> None:
    with closing(connect(":memory:")) as db:
        assert db.execute("select folded_text('GRÖSSE'), folded_text('größe')").fetchone() == ("grösse", "grösse")
