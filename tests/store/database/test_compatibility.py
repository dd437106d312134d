"""Which versions of the program may use a newer store (rule UP1)."""

import pytest

from phaseline.store.database.compatibility import Access, access


@pytest.mark.parametrize(
    ("known", "stored", "found"),
    [
        (9, (9, 8, 8), Access.ALL),
        (10, (9, 8, 8), Access.ALL),
        (8, (9, 8, 8), Access.ALL),
        (8, (9, 8, 9), Access.READING),
        (8, (9, 9, 9), Access.NONE),
        (7, (9, 8, 8), Access.NONE),
    ],
)
def test_up1_a_store_names_the_oldest_versions_that_may_use_it(
    known: int, stored: tuple[int, int, int], found: Access
) -> None:
    assert access(*stored, known=known) is found
