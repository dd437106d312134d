"""URLs, users and servers that cannot be used: the code, a fix that works, and no password anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import TypeVar
from urllib.parse import quote

import psycopg
import pytest
from tests.started import Process
from tests.store import builders as a
from tests.store.local_server import ADMINISTRATOR, PASSWORD, LocalServer, replica_of

from phaseline.app.app_context import SystemClock
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.model.rows.orders import NewOrder
from phaseline.model.rows.rows import LogLine, TurnPayload
from phaseline.store.postgres.store import PostgresStore

ROOT = Path(__file__).parents[3]
SECRET = "hush"
"""A part of each password here."""
PATIENCE_S = 120
"""Tests give up after so long."""
T = TypeVar("T")
FULL_BYTES = 8 * 1024**2
"""Size of the disk that becomes full."""


def opened(url: str) -> PostgresStore:
    return PostgresStore.open(url, a.FakeClock())


def problem_of(work: Callable[[], object], code: str) -> Problem:
    with pytest.raises(ProblemsError) as caught:
        work()
    (problem,) = caught.value.problems
    assert problem.code == code
    assert problem.mend
    assert SECRET not in f"{problem}{problem.mend}"
    return problem


def is_usable(url: str) -> bool:
    """The store can be opened, and does all that a command and an engine do to it."""
    name = f"shop-{os.urandom(3).hex()}"
    with closing(opened(url)) as store:
        with store.as_one(NewOrder(f"order-{name}", "digest", 1_000, a.ANN)):
            number, row = store.create_deployment(a.deployment(name), a.execution())
        assert row is not None
        with store.own("an engine"):
            lines = tuple(LogLine(row.number, 5, "info", f"line {at}") for at in range(200))
            store.commit(a.turn(payload=TurnPayload(logs=lines)))
        assert len(store.logs(row.number)) == 200
        return store.topology(number).blueprint.description == "A shop"


# -- the URL and the login ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:hush@host/db?no_such=1",
        "postgresql://ann:hush%zz@host/db",
        "postgresql://ann:hu@hush@host/db",
        "postgresql://ann:hu/hush@host/db",
        "postgresql://ann:hush/db",
        "postgresql://ann:hush@host:54x/db",
        "postgresql://host/db?password=hush%zz",
        "postgresql://[::1/db?password=hush",
        "postgresql://ann:hush\x00@host/db",
        'postgresql://ann:hu"hush%"@host/db',
    ],
)
def test_st1_a_url_that_cannot_be_read_is_refused(url: str) -> None:
    assert problem_of(lambda: opened(url), "PL-S001").place.subject == "postgresql://…"


@pytest.mark.parametrize("url", ["mysql://ann:hush@host/db", "postgresql:/ann:hush@host/db", "ann:hush@host"])
def test_st1_a_url_of_no_store_is_refused(url: str) -> None:
    from phaseline.store import open_store

    problem_of(lambda: open_store(url, a.FakeClock()), "PL-S001")


@pytest.mark.parametrize(
    "url", ["postgresql://ann:hush@no-such-host.invalid/db", "postgresql://ann:hush@127.0.0.1:1/db"]
)
def test_st9_a_server_that_cannot_be_reached_is_a_problem(url: str) -> None:
    problem_of(lambda: opened(url), "PL-S030")


def test_a_wrong_password_is_refused_and_a_file_of_passwords_mends_it(own: LocalServer, tmp_path: Path) -> None:
    schema, user = own.new_schema(), own.new_user()
    own.run(f"grant usage, create on schema {schema} to {user}")
    for url in (own.url(schema, user=user, password="hush-wrong"), own.url(schema, user="missing", password="hush")):
        problem_of(lambda url=url: opened(url), "PL-S031")
    bare = own.url(schema, user=user, password="x").replace(":x@", "@")
    assert "~/.pgpass" in problem_of(lambda: opened(bare), "PL-S031").mend
    file = tmp_path / "pgpass"
    file.write_text(f"*:*:*:{user}:{PASSWORD}\n", "utf-8")
    file.chmod(0o600)
    assert is_usable(f"{bare}&passfile={quote(str(file), safe='')}")


def test_a_database_that_does_not_exist_is_a_problem_and_createdb_mends_it(own: LocalServer) -> None:
    name = f"d{os.urandom(4).hex()}"
    assert "createdb" in problem_of(lambda: opened(own.url(database=name)), "PL-S038").mend
    own.run(f"create database {name}")
    assert is_usable(own.url(database=name))


def test_a_schema_that_does_not_exist_is_a_problem_and_making_it_mends_it(own: LocalServer) -> None:
    name = f"s{os.urandom(4).hex()}"
    assert "create schema" in problem_of(lambda: opened(own.url(name)), "PL-S038").mend
    own.run(f"create schema {name}")
    assert is_usable(own.url(name))


# -- rights ---------------------------------------------------------------------------------------------------------


def statement_in(mend: str) -> str:
    """The SQL that a fix tells."""
    return mend.partition("grant it: ")[2]


def test_a_user_who_may_not_make_tables_is_told_what_to_grant(own: LocalServer) -> None:
    schema, user = own.new_schema(), own.new_user()
    own.run(f"grant usage on schema {schema} to {user}")
    url = own.url(schema, user=user, password=PASSWORD)
    told = problem_of(lambda: opened(url), "PL-S032")
    own.run(statement_in(told.mend))
    assert is_usable(url)


def test_a_user_who_may_only_read_reads_and_is_told_what_to_grant(own: LocalServer) -> None:
    schema, user = own.new_schema(), own.new_user()
    opened(own.url(schema)).close()
    url = own.url(schema, user=user, password=PASSWORD)
    problem_of(lambda: opened(url), "PL-S038")  # a schema that may not be used is as if it were not there
    own.run(f"grant usage on schema {schema} to {user}", f"grant select on all tables in schema {schema} to {user}")
    with closing(opened(url)) as store:
        assert store.deployments() == []
        assert store.owner() is None
        told = problem_of(lambda: store.create_deployment(a.deployment()), "PL-S032")
        assert {check[0] for check in store.server_checks() if check[1] == "rights"} == {"fail"}
    own.run(*statement_in(told.mend).split("; "))
    assert is_usable(url)
    with closing(opened(url)) as store:
        (found,) = [check for check in store.server_checks() if check[1] == "rights"]
        assert (found[0], "upgrade" in found[2]) == ("warn", True)


def test_st6_a_user_who_may_make_no_temporary_tables_writes_many_rows_all_the_same(own: LocalServer) -> None:
    name, user = f"d{os.urandom(4).hex()}", own.new_user()
    own.run(f"create database {name} owner {user}", f"revoke temporary on database {name} from public, {user}")
    with closing(opened(own.url(database=name, user=user, password=PASSWORD))) as store:
        _, run = a.installed(store)
        with store.own("an engine"):
            store.commit(a.turn(graphs=(a.added(1, run, a.graph(40_000)),)))
            store.commit(a.turn(pages=tuple(a.page(1, number, 3) for number in range(100))))
        assert set(store.statuses(1)[:100_000].tolist()) == {3}


def test_a_database_without_the_right_to_connect_is_a_problem(own: LocalServer) -> None:
    name, user = f"d{os.urandom(4).hex()}", own.new_user()
    own.run(f"create database {name}", f"revoke connect on database {name} from public")
    url = own.url(database=name, user=user, password=PASSWORD)
    told = problem_of(lambda: opened(url), "PL-S032")
    own.run(statement_in(told.mend), f"grant all on schema public to {user}", database=name)
    assert is_usable(url)


# -- the server -----------------------------------------------------------------------------------------------------


def test_a_user_with_too_many_connections_is_refused_and_a_higher_limit_mends_it(own: LocalServer) -> None:
    schema, user = own.new_schema(), own.new_user(limit=1)
    own.run(f"grant usage, create on schema {schema} to {user}")
    url = own.url(schema, user=user, password=PASSWORD)
    with psycopg.connect(url):
        problem_of(lambda: opened(url), "PL-S036")
    own.run(f"alter role {user} connection limit 10")
    assert is_usable(url)


def test_a_server_with_too_many_connections_is_a_problem(own: LocalServer) -> None:
    own.stop()
    own.start(max_connections="6", superuser_reserved_connections="3")
    try:
        user = own.new_user()
        url = own.url(own.new_schema(user), user=user, password=PASSWORD)
        held = [psycopg.connect(url) for _ in range(3)]
        problem_of(lambda: opened(url), "PL-S036")
        for one in held:
            one.close()
    finally:
        own.stop()
        own.start()
    assert is_usable(url)


def test_ha10_a_replica_is_read_and_not_written_and_the_url_may_name_both_servers(own: LocalServer) -> None:
    schema = own.new_schema()
    with closing(opened(own.url(schema))) as store:
        store.create_deployment(a.deployment())
    with replica_of(own) as other:
        with closing(opened(other.url(schema))) as store:
            assert [row.name for row in store.deployments()] == ["shop"]
            told = problem_of(lambda: store.create_deployment(a.deployment("two")), "PL-S034")
            problem_of(lambda: store.own("an engine").__enter__(), "PL-S034")
            assert store.owner() is None
            assert ("server", "fail") in {(check[1], check[0]) for check in store.server_checks()}
        assert "target_session_attrs=read-write" in told.mend
        both = (
            f"postgresql://{ADMINISTRATOR}@/postgres?host={other.folder},{own.folder}&port={other.port},{own.port}"
            f"&options={quote(f'-csearch_path={schema}')}&target_session_attrs=read-write"
        )
        assert is_usable(both)


def test_a_session_that_may_not_write_is_a_problem(own: LocalServer) -> None:
    schema, user = own.new_schema(), own.new_user()
    own.run(f"grant usage, create on schema {schema} to {user}")
    url = own.url(schema, user=user, password=PASSWORD)
    opened(url).close()
    own.run(f"alter role {user} set default_transaction_read_only = on")
    with closing(opened(url)) as store:
        assert store.deployments() == []
        problem_of(lambda: store.create_deployment(a.deployment()), "PL-S034")
    own.run(f"alter role {user} reset default_transaction_read_only")
    assert is_usable(url)


@contextmanager
def small_disk(own: LocalServer) -> Iterator[tuple[str, Callable[[], None]]]:
    """(URL of a store on a disk that becomes full, function that makes room on it).

    Without the right to mount one, a table that takes no row with the error of a full disk is in its place.
    """
    schema, name = own.new_schema(), f"t{os.urandom(4).hex()}"
    folder = Path(mkdtemp(prefix="phaseline-full-", dir="/tmp"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={FULL_BYTES},mode=0777", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode == 0:
        subprocess.run(["chown", f"--reference={own.data}", str(folder)], check=True)
        own.run(f"create tablespace {name} location '{folder}'")
        url = own.url(schema).replace("options=", f"options={quote(f'-cdefault_tablespace={name} ')}")
        opened(url).close()
        own.run(f"create table {schema}.filler (body text) tablespace {name}")
        own.run(
            f"""do $$ begin loop
                begin insert into {schema}.filler select repeat('x', 2000) from generate_series(1, 200);
                exception when disk_full then exit; end;
            end loop; end $$"""
        )
        room = f"drop table {schema}.filler"
    else:
        url = own.url(schema)
        opened(url).close()
        own.run(
            f"""create function {schema}.full_disk() returns trigger language plpgsql as
            $$ begin raise exception using errcode = '53100', message = 'No space left on device'; end $$""",
            f"create trigger full_disk before insert on {schema}.topology execute function {schema}.full_disk()",
        )
        room = f"drop trigger full_disk on {schema}.topology"
    try:
        yield url, lambda: own.run(room)
    finally:
        own.run(f"drop schema {schema} cascade")
        if mounted.returncode == 0:
            own.run("checkpoint", f"drop tablespace {name}")
            subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


def test_a_full_disk_is_a_problem_and_room_mends_it(own: LocalServer) -> None:
    with small_disk(own) as (url, make_room):
        with closing(opened(url)) as store:
            large = a.deployment("large", hosts=20_000)
            told = problem_of(lambda: store.create_deployment(large), "PL-S037")
            assert "make room" in told.mend
            assert store.deployments() == []
            make_room()
            store.create_deployment(large)
        assert is_usable(url)


# -- the database ---------------------------------------------------------------------------------------------------


def test_tables_of_another_program_are_left_alone(own: LocalServer) -> None:
    for statements in (
        ["create table orders (number integer)"],
        ["create table alembic_version (version_num varchar(32))", "insert into alembic_version values ('1f2e3d')"],
        ["create table alembic_version (version_num varchar(32))", "create table store (name text)"],
    ):
        url = own.url(own.new_schema())
        with psycopg.connect(url) as db:
            for statement in statements:
                db.execute(statement.encode())
            before = db.execute("select count(*) from pg_tables where schemaname = current_schema()").fetchone()
        assert "search_path" in problem_of(lambda url=url: opened(url), "PL-S001").mend
        with psycopg.connect(url) as db:
            after = db.execute("select count(*) from pg_tables where schemaname = current_schema()").fetchone()
        assert before == after


def test_a_database_that_cannot_store_every_text_is_refused_and_one_of_unicode_works(own: LocalServer) -> None:
    name = f"d{os.urandom(4).hex()}"
    own.run(f"create database {name} encoding 'LATIN1' template template0")
    told = problem_of(lambda: opened(own.url(database=name)), "PL-S001")
    assert "LATIN1" in told.message
    assert "createdb --encoding=UTF8 --template=template0" in told.mend
    own.run(f"drop database {name}", f"create database {name} encoding 'UTF8' template template0")
    assert is_usable(own.url(database=name))


def test_st10_leases_are_not_affected_by_a_clock_that_is_an_hour_off(own: LocalServer) -> None:
    """The clock of this database is a function of its own, found before the server's."""
    schema = own.new_schema()
    own.run(
        f"""create function {schema}.clock_timestamp() returns timestamptz volatile language sql
        as $$ select pg_catalog.clock_timestamp() + interval '1 hour' $$"""
    )
    url = own.url(f"{schema},pg_catalog")
    clock = SystemClock()
    with closing(PostgresStore.open(url, clock)) as one, closing(PostgresStore.open(url, clock)) as two:
        with one.own("an engine"):
            assert one.owner() is not None
            problem_of(lambda: two.own("another").__enter__(), "PL-S004")
        with two.own("another"), psycopg.connect(url) as db:
            left = db.execute("select extract(epoch from until - clock_timestamp()) from lease").fetchone()
            assert left is not None
            assert 0 < left[0] <= 4
        (found,) = [check for check in one.server_checks() if check[1] == "clock"]
        assert found[0] == "warn"
        assert "3,600 s" in found[2] or "3,599 s" in found[2]


def test_st10_a_lease_ends_although_the_clock_of_the_database_was_set_back(own: LocalServer) -> None:
    url = own.url(own.new_schema())
    with closing(opened(url)) as store:
        with psycopg.connect(url) as db:
            taken = (
                "insert into lease values (0, 'dead', 'an engine', 1, 'db-2', 1, clock_timestamp() + interval '1 hour')"
            )
            db.execute(taken)
        assert store.owner() is None
        with store.own("another"):
            assert store.owner() is not None


# -- the driver and the command line --------------------------------------------------------------------------------


def started(*words: str, folder: Path, before: str = "", **environment: str) -> Process:
    """A process of ``phaseline`` in a folder of its own, after the Python code ``before``."""
    code = f"import sys; {before or None}; from phaseline.__main__ import main; sys.exit(main())"
    own = {**dict.fromkeys(("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), str(folder)), **environment}
    own["PYTHONPATH"] = str(ROOT / "src")
    command = [sys.executable, "-c", code, *words]
    pipe = subprocess.PIPE
    return Process(command, cwd=folder, env={**os.environ, **own}, stdout=pipe, stderr=pipe, text=True)


def run(*words: str, folder: Path, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """What a process of ``phaseline`` says and how it ends."""
    with started(*words, folder=folder, before=before, **environment) as process:
        output, errors = process.communicate(timeout=PATIENCE_S)
    return subprocess.CompletedProcess(words, process.returncode, output, errors)


def awaited(look: Callable[[], T | None]) -> T:
    """The first answer that is not None."""
    waited = threading.Event()
    for _ in range(PATIENCE_S * 20):
        found = look()
        if found is not None:
            return found
        waited.wait(0.05)
    raise AssertionError("nothing came")


@pytest.mark.parametrize(
    "before",
    ["sys.modules['psycopg'] = None", "import os; os.environ['PSYCOPG_IMPL'] = 'c'; sys.modules['psycopg_c'] = None"],
    ids=["no driver", "no library of the driver"],
)
def test_a_missing_driver_is_a_problem(tmp_path: Path, before: str) -> None:
    done = run("--store", "postgresql://ann:hush@host/db", "deployments", "list", folder=tmp_path, before=before)
    assert done.returncode == 1
    assert "PL-S039" in done.stderr
    assert "pip install 'phaseline[postgres]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize("words", [(), ("--json",)], ids=["text", "json"])
def test_se6_no_command_shows_a_password_or_a_traceback(
    own: LocalServer, tmp_path: Path, words: tuple[str, ...]
) -> None:
    schema = own.new_schema()
    opened(own.url(schema)).close()
    user = own.new_user()
    for url, code in (
        (own.url(user=user, password="hush-wrong"), "PL-S031"),
        (own.url(schema, user=user, password=PASSWORD), "PL-S038"),
        ("postgresql://ann:hush@127.0.0.1:1/db", "PL-S030"),
        ("postgresql://ann:hu@hush@127.0.0.1/db", "PL-S001"),
        ("postgresql://ann@127.0.0.1:1/db?password=hush&nonsense=1", "PL-S001"),
    ):
        done = run("--store", url, "deployments", "list", *words, folder=tmp_path)
        assert done.returncode == 1
        assert code in done.stdout + done.stderr
        assert SECRET not in done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr


def test_se6_a_password_in_the_url_is_nowhere_in_answers_logs_and_the_store(own: LocalServer, tmp_path: Path) -> None:
    schema = own.new_schema()
    url = own.url(schema, password=PASSWORD)
    (tmp_path / "shop.yaml").write_text(
        "tosca_definitions_version: cloudify_dsl_1_3\nimports: [cloudify/types/types.yaml]\n"
        "node_templates: {one: {type: cloudify.nodes.Root}}\n",
        "utf-8",
    )
    log = tmp_path / "engine.log"
    told = {"PHASELINE_LOG_FILE": str(log), "PHASELINE_LOG_LEVEL": "debug"}
    engine = started(f"--store={url}", "engine", "run", folder=tmp_path, **told)
    with closing(opened(url)) as store, engine:
        owner = awaited(store.owner)
        assert owner.command.endswith(" --store=postgresql://…@127.0.0.1/postgres?… engine run")
        said = owner.command
        for words in (
            ("install", "-d", "shop", "shop.yaml"),
            ("status", "--json"),
            ("doctor", "--json"),
            ("executions", "list", "--json"),
            ("executions", "events", "-d", "shop", "--json"),
            ("store", "check", "--json"),
            ("engine", "stop"),
        ):
            done = run(f"--store={url}", *words, folder=tmp_path, **told)
            assert done.returncode == 0, (words, done.stdout, done.stderr)
            said += done.stdout + done.stderr
            assert "--json" not in words or json.loads(done.stdout) is not None
        said += "".join(engine.communicate(timeout=60))
    said += "".join(file.read_text("utf-8", "replace") for file in tmp_path.rglob("*") if file.is_file())
    with psycopg.connect(own.url(schema)) as db:
        for (table,) in db.execute("select tablename from pg_tables where schemaname = current_schema()").fetchall():
            said += "".join(map(str, db.execute(f"select * from {table}").fetchall()))
    assert log.exists()
    assert SECRET not in said
