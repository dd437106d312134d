"""Type definitions of plugins as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import clean, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.use_cases.loading.type_catalog import TypesView

WORDS = {
    "plugins": "plugin",
    "node_types": "node type",
    "relationships": "relationship type",
    "data_types": "data type",
}


def installed_text(views: Sequence[TypesView]) -> str:
    """Return a text about the definitions put into the type catalogue, and how blueprints import them."""
    lines = []
    for view in views:
        counts = ", ".join(number(len(view.defines[key]), word) for key, word in WORDS.items() if key in view.defines)
        lines.append(f"{view.name} {view.version}: {', '.join(view.files)} ({counts})")
        lines.append(f"  imported as  plugin:{view.name}  or  plugin:{view.name}?version={view.version}")
    return "\n".join(map(clean, lines))
