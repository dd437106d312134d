"""What others have, as a hook is told of it."""

from phaseline.calls.protocol.hook_lookup import Usage

COMPUTE = "cloudify.nodes.Compute"


def test_usage_is_counted_by_type() -> None:
    used = Usage("shop", {("Root", COMPUTE): 2, ("Root",): 3})
    assert (used.count(), used.count(COMPUTE), used.count("Root"), used.count("Nobody")) == (5, 2, 5, 0)
