"""The text of a terminal as an SVG picture: no script, no font and no file of others; readable as text by machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from tools.pictures.cast import COLUMNS, STYLES, plain

LETTER, LINE, SIZE, PAD = 8.4, 19, 14, 16
"""Width of a letter, height of a line, size of the font and the margin, in pixels."""
GROUND, INK = "#0d1117", "#d1d7e0"
COLORS = {"31": "#ff8a80", "32": "#7ee787", "33": "#f2cc60", "34": "#79c0ff", "35": "#d2a8ff", "36": "#76e3ea"}
"""{code of a terminal: color}; each has a contrast of 8 to 1 or more with the ground."""
SHEET = (
    f"text{{font:{SIZE}px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:{INK}}}.b{{font-weight:bold}}"
    + "".join(f".c{code}{{fill:{color}}}" for code, color in COLORS.items())
)


def as_svg(title: str, lines: Sequence[str]) -> str:
    r"""The picture of lines with styles; the same lines give the same bytes.

    >>> as_svg("one", ["\x1b[1;32m$ ls\x1b[0m"]).splitlines()[-2]
    '<text x="16" y="30" textLength="33.6" xml:space="preserve"><tspan class="b c32">$ ls</tspan></text>'
    """
    rows = [row for line in lines for row in wrapped(line)]
    while rows and not plain(rows[0]).strip():
        rows = rows[1:]
    width, height = COLUMNS * LETTER + 2 * PAD, len(rows) * LINE + 2 * PAD
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{SHEET}</style>",
        f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>',
    ]
    for number, row in enumerate(rows):
        if text := plain(row).rstrip():
            spans = "".join(as_span(styles, part) for styles, part in pieces(row))
            place = f'x="{PAD}" y="{PAD + SIZE + number * LINE}" textLength="{len(text) * LETTER:.1f}"'
            parts.append(f'<text {place} xml:space="preserve">{spans}</text>')
    return "\n".join([*parts, "</svg>", ""])


def pieces(row: str) -> Iterator[tuple[str, str]]:
    r"""(codes, text) of each part of a row, without space at its end.

    >>> list(pieces("a \x1b[1;31mb\x1b[0m c  "))
    [('', 'a '), ('1;31', 'b'), ('', ' c')]
    """
    left = len(plain(row).rstrip())
    parts = ["", *STYLES.split(row)]
    for codes, text in zip(parts[::2], parts[1::2], strict=True):
        if shown := text[:left]:
            yield ("" if codes == "0" else codes), shown
        left -= len(shown)


def as_span(codes: str, text: str) -> str:
    """A part of a row with its style."""
    known = {"1": "b", **{code: f"c{code}" for code in COLORS}}
    names = " ".join(known[code] for code in codes.split(";") if code in known)
    return f'<tspan class="{names}">{escape(text)}</tspan>' if names else escape(text)


def wrapped(line: str) -> list[str]:
    r"""The rows that a terminal makes of a line; a style goes on in the next row.

    >>> wrapped("a" * 105) == ["a" * 104, "a"]
    True
    """
    rows, used, codes = [""], 0, ""
    for position, part in enumerate(STYLES.split(line)):
        if position % 2:
            codes = f"\x1b[{part}m"
            rows[-1] += codes
            continue
        rest = part
        while used + len(rest) > COLUMNS:
            fits = COLUMNS - used
            rows[-1] += rest[:fits]
            rows.append(codes)
            rest, used = rest[fits:], 0
        rows[-1] += rest
        used += len(rest)
    return rows
