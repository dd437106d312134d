"""W8, W20: an install that fails is taken back only as far as it made anything."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plan.naive import ask

from phaseline.model.execution.execution import Round, Verdict
from phaseline.testing.builders import blueprint, node, topology

WEB = topology(blueprint(node("web", create="p.c")))


@pytest.mark.parametrize("called", [None, np.zeros(1, bool)])
def test_an_install_that_failed_before_it_called_anything_has_nothing_to_take_back(called):
    found = ask("install", WEB, Round("install", 0, {"failed": 1}), take_back=True, called=lambda _: called)
    assert isinstance(found, Verdict)
    assert found.status.value == "failed"
    assert "taken back" not in found.reason
