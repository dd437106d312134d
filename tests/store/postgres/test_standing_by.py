"""Processes that wait to become the owner, and lose the connection in the moment in which they would (rule HA2)."""

from contextlib import ExitStack, closing

import psycopg
from tests.store.postgres_server import new_schema

from phaseline.app.settings import Settings
from phaseline.embedded.open_app import open_context
from phaseline.embedded.run_execution import try_own

ENDED_ONCE = """
create sequence tried;
create function end_once() returns trigger language plpgsql as $$
    begin
        if nextval('tried') = 1 then
            perform pg_terminate_backend(pg_backend_pid());
            perform pg_sleep(1);
        end if;
        return new;
    end $$;
create trigger end_first before insert on lease for each row execute function end_once();
"""
"""Ends the first session that takes the lease, as another process does with one whose client was stopped meanwhile."""


def test_ha2_who_loses_the_connection_while_it_becomes_the_owner_tries_again() -> None:
    url = new_schema()
    with open_context(Settings(url), "a test") as ctx, ExitStack() as owned:
        assert ctx.store.owner() is None  # the store is made when it is first used
        with closing(psycopg.connect(url, autocommit=True)) as db:
            db.execute(ENDED_ONCE)
        assert try_own(ctx, owned) is None
        assert ctx.store.owner() is None
        lease = try_own(ctx, owned)
        assert lease is not None
        assert not lease.is_lost()
