"""Names of holders are random."""

from phaseline.store.database.holder_names import HOLDER_BYTES, new_holder


def test_no_two_holders_have_the_same_name() -> None:
    names = {new_holder() for _ in range(1_000)}
    assert len(names) == 1_000
    assert {len(name) for name in names} == {2 * HOLDER_BYTES}
