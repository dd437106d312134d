"""What lies in the stores of earlier schemas: names of modules that have to stay importable, and nothing of the machine that made them."""

import importlib
import re
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.old_stores import DATA, SCHEMAS, unpack

OLDEST = 1
SIZE_BYTES = 200_000
"""At most, of each file."""
NAME = re.compile(rb"\bphaseline\.[a-z_.]+\w")

HOME = re.compile(rb"/(?:ro{2}t|home|Users)/")


def cells(path: Path) -> Iterator[tuple[str, bytes]]:
    """(table, content) of each text and blob; what is compressed comes as it was before."""
    with closing(sqlite3.connect(path)) as db:
        for (table,) in db.execute("select name from sqlite_master where type = 'table'").fetchall():
            for row in db.execute(f"select * from {table}"):
                for cell in row:
                    if isinstance(cell, str):
                        yield table, cell.encode()
                    elif isinstance(cell, bytes):
                        yield table, cell
                        yield from ((table, plain) for plain in inflated(cell))


def inflated(cell: bytes) -> Iterator[bytes]:
    """It without its compression, if it has one, also behind a byte that says so."""
    for start in (0, 1):
        try:
            yield zlib.decompress(cell[start:])
        except zlib.error:
            continue


def names_in(path: Path) -> set[str]:
    """Every dotted name of ours that is stored, but those in the code of users."""
    found = (name for table, cell in cells(path) if table != "stored_content" for name in NAME.findall(cell))
    return {name.decode() for name in found}


@pytest.fixture(params=(OLDEST, *SCHEMAS))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    if request.param == OLDEST:
        path.write_bytes((Path(__file__).parent / "data" / "store-v1.db").read_bytes())
    else:
        unpack(request.param, path)
    return path


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("pragma user_version").fetchone()[0])


def test_trap_a_each_module_that_a_store_names_is_listed_and_can_be_imported(store: Path) -> None:
    names = names_in(store)
    text = (DATA / "README.md").read_text()
    listed = set(re.findall(rf"^\| `(phaseline\.[a-z_.]+)` \|.*\b{version(store)}\b", text, re.MULTILINE))
    assert names == listed
    for name in names:
        importlib.import_module(name)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_store_is_small_of_its_schema_and_tells_nothing_of_the_machine_that_made_it(
    schema: int, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    unpack(schema, path)
    assert (DATA / f"store-v{schema}.db.xz").stat().st_size < SIZE_BYTES
    assert version(path) == schema
    assert [cell for _, cell in cells(path) if HOME.search(cell)] == []


def test_names_that_are_compressed_are_found(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("create table one (body blob)")
        db.execute("insert into one values (?)", (zlib.compress(b'{"hook": "phaseline.policies.rules:Rule"}'),))
    assert names_in(path) == {"phaseline.policies.rules"}
