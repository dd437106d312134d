"""Diagrams in every form."""

import pytest

from phaseline.plan.preview.diagram import Drawing, DrawnNode
from phaseline.views.diagrams import FORMS, drawn


@pytest.mark.parametrize("form", FORMS)
def test_a_node_is_drawn_with_its_name(form: str) -> None:
    assert "web" in drawn(Drawing("shop", (DrawnNode("web", "Root"),), ()), form)
