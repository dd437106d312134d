"""Fixtures of the rules about our own files."""

from collections.abc import Iterator

import pytest
from tests.tidy import trees


@pytest.fixture(scope="package", autouse=True)
def _trees() -> Iterator[None]:
    """Trees are kept while rules are checked: for the tests that follow they were millions of objects to look through."""
    yield
    trees.tree.cache_clear()
