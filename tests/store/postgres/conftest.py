"""A server of its own for tests that stop it, fill it up or need passwords, and a proxy that cuts connections."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.store.cutting_proxy import CuttingProxy, proxied
from tests.store.local_server import LocalServer, local_server
from tests.store.postgres_server import new_schema


@pytest.fixture(scope="session")
def own() -> Iterator[LocalServer]:
    """A running server that only tests of this folder use; whoever stops it starts it again."""
    with local_server() as server:
        yield server


@pytest.fixture
def cut() -> Iterator[tuple[CuttingProxy, str]]:
    """A proxy, and the URL of a store of its own behind it."""
    told = conninfo_to_dict(new_schema())
    server = Path(str(told["host"]), f".s.PGSQL.{told.get('port') or 5432}")
    with proxied(server) as proxy:
        where = f"127.0.0.1:{proxy.port}/{told['dbname']}"
        yield proxy, f"postgresql://{told['user']}@{where}?options={quote(str(told['options']))}&sslmode=disable"
