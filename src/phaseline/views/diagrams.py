"""Diagrams of plans, deployments and blueprints, in the format of a diagram program."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from phaseline.plan.preview.diagram import Drawing
from phaseline.plan.preview.diagram_svg import as_svg
from phaseline.plan.preview.diagram_text import as_dot, as_mermaid, as_text

__all__ = ["FORMS", "Drawing", "drawn"]

FORMS: Mapping[str, Callable[[Drawing], str]] = {
    "text": as_text,
    "mermaid": as_mermaid,
    "dot": as_dot,
    "svg": as_svg,
}


def drawn(drawing: Drawing, form: str) -> str:
    """Return the diagram as text in the given format, one of ``FORMS``."""
    return FORMS[form](drawing)
