"""A server of its own for tests that stop it, fill it up or need passwords."""

from collections.abc import Iterator

import pytest
from tests.store.local_server import LocalServer, local_server


@pytest.fixture(scope="session")
def own() -> Iterator[LocalServer]:
    """A running server that only tests of this folder use; whoever stops it starts it again."""
    with local_server() as server:
        yield server
