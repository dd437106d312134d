"""Write a diagram as text, as a flowchart for Mermaid, or as a graph for Graphviz (DOT). All names are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.plan.preview.diagram import Drawing, DrawnNode

COLORS: Mapping[str, str] = {"+": "#d7f5d7", "-": "#f8d7d7", "-/+": "#f5e3c8", "~": "#fdf3c4", "!": "#fdf3c4"}
"""{sign of a node in a plan: color of its box}"""
PLAIN_SIGNS = frozenset(" _:/×,()=")
"""Characters, besides letters and digits, that have no special meaning within quotes in Mermaid."""


def as_text(drawing: Drawing) -> str:
    """Return a line for each node, with a line for each of its relationships below it.

    >>> from phaseline.plan.preview.diagram import Drawing, DrawnEdge, DrawnNode
    >>> print(as_text(Drawing("shop", (DrawnNode("web", "Web", ("× 2",)), DrawnNode("db", "Db")), (DrawnEdge("web", "db", "uses"),))))
    shop
    <BLANKLINE>
    web  Web  × 2
        uses db
    db  Db
    """
    lines = [_visible(drawing.title)]
    shown = -1
    below: dict[tuple[int, str], list[str]] = {}
    for edge in drawing.edges:
        told = f"    {_visible(edge.type)} {_visible(edge.target)}"
        below.setdefault((edge.round, edge.source), []).append(told)
    for node in drawing.nodes:
        if node.round != shown:
            lines += ["", *([drawing.rounds[node.round]] if drawing.rounds else [])]
            shown = node.round
        head = f"{node.sign} {node.name}" if node.sign else node.name
        lines.append("  ".join(_visible(part) for part in (head, node.type, ", ".join(node.lines)) if part))
        lines += below.get((node.round, node.name), ())
    return "\n".join(lines)


def as_mermaid(drawing: Drawing) -> str:
    """Return a flowchart for Mermaid. Every character that could have a special meaning is written as its number.

    >>> from phaseline.plan.preview.diagram import Drawing, DrawnNode
    >>> print(as_mermaid(Drawing("a", (DrawnNode('we"b', "Web"),), ())))
    ---
    title: "a"
    ---
    flowchart TD
        n0["we#34;b<br/>Web"]
    """
    ids = _ids(drawing)
    lines = ["---", f'title: "{_yaml(drawing.title)}"', "---", "flowchart TD"]
    for number, nodes in _by_round(drawing):
        indent = "    "
        if drawing.rounds:
            lines.append(f'    subgraph r{number}["{_entities(drawing.rounds[number])}"]')
            indent = "        "
        lines += [f'{indent}{ids[node.round, node.name]}["{_box(node)}"]' for node in nodes]
        if drawing.rounds:
            lines.append("    end")
    for edge in drawing.edges:
        source, target = ids[edge.round, edge.source], ids[edge.round, edge.target]
        lines.append(f'    {source} -->|"{_entities(edge.type)}"| {target}')
    lines += [
        f"    style {ids[node.round, node.name]} fill:{COLORS[node.sign]},color:#000"
        for node in drawing.nodes
        if node.sign in COLORS
    ]
    return "\n".join(lines)


def as_dot(drawing: Drawing) -> str:
    r"""Return a directed graph for Graphviz. Names are in quotes, in which backslashes and quotes are escaped.

    >>> from phaseline.plan.preview.diagram import Drawing, DrawnNode
    >>> print(as_dot(Drawing("a", (DrawnNode('we"b', r"W\N"),), ())))
    digraph {
        label="a"; labelloc=t; fontname="sans-serif";
        node [shape=box, style="rounded,filled", fillcolor="#ffffff", fontname="sans-serif"];
        edge [fontname="sans-serif", fontsize=10];
        n0 [label="we\"b\nW\\N"];
    }
    """
    ids = _ids(drawing)
    lines = [
        "digraph {",
        f'    label="{_quoted(drawing.title)}"; labelloc=t; fontname="sans-serif";',
        '    node [shape=box, style="rounded,filled", fillcolor="#ffffff", fontname="sans-serif"];',
        '    edge [fontname="sans-serif", fontsize=10];',
    ]
    for number, nodes in _by_round(drawing):
        indent = "    "
        if drawing.rounds:
            lines.append(f'    subgraph cluster_{number} {{\n        label="{_quoted(drawing.rounds[number])}";')
            indent = "        "
        for node in nodes:
            color = f', fillcolor="{COLORS[node.sign]}"' if node.sign in COLORS else ""
            label = "\\n".join(map(_quoted, box_lines(node)))
            lines.append(f'{indent}{ids[node.round, node.name]} [label="{label}"{color}];')
        if drawing.rounds:
            lines.append("    }")
    for edge in drawing.edges:
        ends = f"{ids[edge.round, edge.source]} -> {ids[edge.round, edge.target]}"
        lines.append(f'    {ends} [label="{_quoted(edge.type)}"];')
    return "\n".join([*lines, "}"])


def box_lines(node: DrawnNode) -> list[str]:
    """Return the lines of text in a node's box."""
    head = f"{node.sign} {node.name}" if node.sign else node.name
    return [_visible(line) for line in (head, node.type, *node.lines)]


def _ids(drawing: Drawing) -> dict[tuple[int, str], str]:
    return {(node.round, node.name): f"n{number}" for number, node in enumerate(drawing.nodes)}


def _by_round(drawing: Drawing) -> Iterable[tuple[int, list[DrawnNode]]]:
    for number in range(max(len(drawing.rounds), 1)):
        yield number, [node for node in drawing.nodes if node.round == number]


def _box(node: DrawnNode) -> str:
    return "<br/>".join(map(_entities, box_lines(node)))


def _entities(text: str) -> str:
    """Return the text with special characters written as Mermaid does, such as ``#34;`` for a quote."""
    return "".join(char if char in PLAIN_SIGNS or char.isalnum() else f"#{ord(char)};" for char in _visible(text))


def _yaml(text: str) -> str:
    return _visible(text).replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    """Return the text as a string of DOT.

    ``&`` is escaped, because Graphviz reads ``&amp;`` and the like as characters.
    """
    return _visible(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


def _visible(text: str) -> str:
    """Return the text on one line. Unprintable characters are written as in Python, so that they have no effect."""
    return text if text.isprintable() else "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
