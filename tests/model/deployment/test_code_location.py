"""Where the code of a deployment lies."""

from phaseline.model.deployment.code_location import CodeLocation


def test_equal_places_are_one_key_so_their_functions_are_the_same() -> None:
    here = CodeLocation("/blueprints/shop", ("/plugins",), (("net", "/blueprints/net"),), ("/packages/db-1.0",))
    again = CodeLocation("/blueprints/shop", ("/plugins",), (("net", "/blueprints/net"),), ("/packages/db-1.0",))
    updated = CodeLocation("/blueprints/shop", ("/plugins",), (("net", "/blueprints/net"),), ("/packages/db-1.1",))
    assert {here: 1}[again] == 1
    assert here != updated
