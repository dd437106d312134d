"""Fixtures of the rules about our own files."""

from collections.abc import Iterator

import pytest
from tests.tidy import trees


@pytest.fixture(scope="package", autouse=True)
def _trees() -> Iterator[None]:
    yield
    trees.forget()
