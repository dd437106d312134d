"""Draw a diagram as an SVG picture: boxes in rows, each above the boxes that it needs, with arrows between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.plan.preview.diagram_text import COLORS, box_lines

if TYPE_CHECKING:
    from phaseline.plan.preview.diagram import Drawing, DrawnNode

LETTER, LINE, PAD = 7.5, 16, 10
"""Width of a letter, height of a line, and space around the text of a box, in pixels."""
LABEL_LETTER = 6
"""Width of a letter in the label of an arrow, in pixels."""
GAP_X, GAP_Y, MARGIN = 30, 60, 20
HALO = 'stroke="#fff" stroke-width="3" paint-order="stroke"'
"""SVG attributes that keep a label readable where it crosses an arrow."""
TWO_ROWS = 2 * GAP_Y + LINE + 2 * PAD
"""Length of the shortest arrow that passes a whole row of boxes, in pixels."""
SWEEPS = 4
"""Number of passes that sort the boxes of each row by the boxes to which arrows lead, so that few arrows cross."""
TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>'
)
"""SVG definition of the tip of an arrow."""
ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;"}

Key = tuple[int, str]


def as_svg(drawing: Drawing) -> str:
    """Return the picture as SVG text, without references to other files."""
    needs = _needs(drawing)
    rows = _ordered(_rows(drawing, needs), needs)
    boxes = {(node.round, node.name): node for node in drawing.nodes}
    places = _places(rows, boxes)
    width = max((x + wide for x, _, wide, _ in places.values()), default=200) + MARGIN
    arrows = [
        _arrow(places[edge.round, edge.source], places[edge.round, edge.target], edge.type) for edge in drawing.edges
    ]
    width = max(width, max((right for _, right in arrows), default=0) + MARGIN)
    height = max((y + high for _, y, _, high in places.values()), default=40) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" font-family="sans-serif" font-size="12" style="background:#fff">',
        f"<title>{_text(drawing.title)}</title>",
        TIP,
    ]
    parts += [line for lines, _ in arrows for line in lines]
    for key, node in boxes.items():
        parts += _box(places[key], node)
    return "\n".join([*parts, "</svg>"])


def _needs(drawing: Drawing) -> dict[Key, list[Key]]:
    found: dict[Key, list[Key]] = {(node.round, node.name): [] for node in drawing.nodes}
    for edge in drawing.edges:
        if edge.source != edge.target:
            found[edge.round, edge.source].append((edge.round, edge.target))
    return found


def _rows(drawing: Drawing, needs: Mapping[Key, Sequence[Key]]) -> list[list[Key]]:
    """Return the nodes in rows. In each round, the nodes with the longest chain of needs form the top row.

    The rows of each round come below those of the round before.
    """
    rows: list[list[Key]] = []
    for number in range(max(len(drawing.rounds), 1)):
        own = [(node.round, node.name) for node in drawing.nodes if node.round == number]
        depth = _depths(own, needs)
        for level in range(max(depth.values(), default=-1), -1, -1):
            rows.append([key for key in own if depth[key] == level])
    return rows


def _depths(keys: Sequence[Key], needs: Mapping[Key, Sequence[Key]]) -> dict[Key, int]:
    """Return the length of the longest path from each node to a node without needs.

    Blueprints have no circles; if there is one, the path ends where the circle closes.
    """
    depth: dict[Key, int] = {}
    open_keys: set[Key] = set()
    for first in keys:
        stack = [first]
        while stack:
            key = stack[-1]
            open_keys.add(key)
            left = [one for one in needs[key] if one not in depth and one not in open_keys]
            if left:
                stack.append(left[0])
                continue
            depth[key] = 1 + max((depth.get(one, -1) for one in needs[key]), default=-1)
            open_keys.discard(stack.pop())
    return depth


def _ordered(rows: list[list[Key]], needs: Mapping[Key, Sequence[Key]]) -> list[list[Key]]:
    """Return the rows, each sorted by the average position of a node's neighbours, so that few arrows cross."""
    beside: dict[Key, list[Key]] = {key: list(found) for key, found in needs.items()}
    for key, found in needs.items():
        for one in found:
            beside[one].append(key)
    for _ in range(SWEEPS):
        place = {key: at / max(len(row), 1) for row in rows for at, key in enumerate(row)}
        rows = [sorted(row, key=lambda key: _middle(key, beside, place)) for row in rows]
    return rows


def _middle(key: Key, beside: Mapping[Key, Sequence[Key]], place: Mapping[Key, float]) -> float:
    near = [place[one] for one in beside[key]]
    return sum(near) / len(near) if near else place[key]


def _places(
    rows: Sequence[Sequence[Key]], boxes: Mapping[Key, DrawnNode]
) -> dict[Key, tuple[float, float, float, float]]:
    """Return {box: its left, top, width and height, in pixels}. Rows are centred."""
    sizes = {key: _size(node) for key, node in boxes.items()}
    wide = max((sum(sizes[key][0] + GAP_X for key in row) for row in rows), default=0)
    found = {}
    y: float = MARGIN
    for row in rows:
        x = MARGIN + (wide - sum(sizes[key][0] + GAP_X for key in row)) / 2
        for key in row:
            found[key] = (x, y, *sizes[key])
            x += sizes[key][0] + GAP_X
        y += max((sizes[key][1] for key in row), default=0) + GAP_Y
    return found


def _size(node: DrawnNode) -> tuple[float, float]:
    lines = box_lines(node)
    return max(map(len, lines)) * LETTER + 2 * PAD, len(lines) * LINE + 2 * PAD


def _box(place: tuple[float, float, float, float], node: DrawnNode) -> list[str]:
    x, y, wide, high = place
    color = COLORS.get(node.sign, "#ffffff")
    parts = [
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="6" fill="{color}" stroke="#555"/>'
    ]
    for number, line in enumerate(box_lines(node)):
        weight = ' font-weight="bold"' if number == 0 else ""
        at = y + PAD + LINE * (number + 0.75)
        parts.append(
            f'<text x="{x + wide / 2:.1f}" y="{at:.1f}" text-anchor="middle" fill="#000"{weight}>{_text(line)}</text>'
        )
    return parts


def _arrow(
    source: tuple[float, float, float, float], target: tuple[float, float, float, float], label: str
) -> tuple[list[str], float]:
    """Return (SVG lines of an arrow, x coordinate of its right edge).

    An arrow that passes a row is drawn around the boxes between its ends.
    """
    begin_x, begin_y = source[0] + source[2] / 2, source[1] + source[3]
    end_x, end_y = target[0] + target[2] / 2, target[1]
    half = len(label) * LABEL_LETTER / 2
    middle = (begin_x + end_x) / 2
    if end_y - begin_y < TWO_ROWS:
        bend = (end_y - begin_y) / 2
        path = f"M{begin_x:.1f} {begin_y:.1f}C{begin_x:.1f} {begin_y + bend:.1f} {end_x:.1f} {end_y - bend:.1f} {end_x:.1f} {end_y:.1f}"
        at = (begin_y + end_y) / 2
    else:
        begin_x, begin_y = source[0] + source[2], source[1] + source[3] / 2
        end_x, end_y = target[0] + target[2], target[1] + target[3] / 2
        out = max(begin_x, end_x) + (end_y - begin_y) / 3
        path = f"M{begin_x:.1f} {begin_y:.1f}C{out:.1f} {begin_y:.1f} {out:.1f} {end_y:.1f} {end_x:.1f} {end_y:.1f}"
        middle, at = (begin_x + 6 * out + end_x) / 8, (begin_y + end_y) / 2
    place = f'x="{middle:.1f}" y="{at:.1f}"'
    return [
        f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#tip)"/>',
        f'<text {place} text-anchor="middle" font-size="10" fill="#555" {HALO}>{_text(label)}</text>',
    ], middle + half


def _text(text: str) -> str:
    """Return the text escaped for XML, without control characters, which XML does not allow."""
    shown = text if text.isprintable() else "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    return shown.translate(ESCAPES)
