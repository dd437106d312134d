"""What tests of records share."""

import time
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def utc() -> Iterator[None]:
    """The reference reads times that name no zone as times of this machine, ours as UTC."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()
