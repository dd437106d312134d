"""What a request would do against a restriction, before it runs."""

import pytest

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.execution import Request
from phaseline.plan.requests.restriction_validation import refusals
from phaseline.testing.builders import blueprint, node, topology

WEB = altered(topology(blueprint(node("web"), node("db"))), restricted={"db": ("replace",)})


@pytest.mark.parametrize(
    ("request_", "refused"),
    [
        (Request("uninstall"), []),
        (Request("reinstall"), ["'db' must not be replaced, and db_1 would be"]),
        (Request("reinstall", parameters={"node_ids": ["web"]}), []),
        (Request("heal"), []),
        (Request("heal", parameters={"force_reinstall": True}), ["'db' must not be replaced, and db_1 would be"]),
        (Request("update", parameters={"reinstall_list": ["db_1"]}), ["'db' must not be replaced, and db_1 would be"]),
    ],
)
def test_a_request_is_refused_for_what_it_is_sure_to_do(request_: Request, refused: list[str]) -> None:
    assert [problem.message for problem in refusals(WEB, request_)] == refused
