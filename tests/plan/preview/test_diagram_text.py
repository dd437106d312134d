"""Drawings of plans, deployments and blueprints: whatever is in names stays text in each of their forms."""

import re
from html import unescape
from xml.etree import ElementTree as ET

import pytest

from phaseline.plan.preview.diagram import Drawing, DrawnEdge, DrawnNode
from phaseline.plan.preview.diagram_svg import as_svg
from phaseline.plan.preview.diagram_text import as_dot, as_mermaid, as_text

NAMES = (
    '1. web "x" <b>&amp; ]) #35; `a` \\N %% end',
    "- x|y",
    "end",
    "class",
    "a\\",
    "%%{init: {}}%%",
    "b\x1b[2J\n\u202edcba",
    "]]>--></svg>",
)
SVG = "{http://www.w3.org/2000/svg}"


def drawing(*rounds: str) -> Drawing:
    nodes = [DrawnNode(name, f"type of {name}", (name,), "+", at) for at in range(len(rounds) or 1) for name in NAMES]
    edges = [DrawnEdge(NAMES[0], name, name, at) for at in range(len(rounds) or 1) for name in NAMES[1:]]
    return Drawing(NAMES[0], tuple(nodes), tuple(edges), rounds)


def expected(name: str) -> str:
    """The name as it is shown: control characters as escapes."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in name)


@pytest.mark.parametrize("rounds", [(), ("round 1", "round 2")])
def test_names_in_mermaid_are_letters_digits_and_numbers_of_all_else(rounds: tuple[str, ...]) -> None:
    text = as_mermaid(drawing(*rounds))
    body = text.partition("flowchart TD")[2]
    labels = re.findall(r'"([^"]*)"', body)
    for label in labels:
        assert re.fullmatch(r"(?:[\w :/×,()=]|#\d+;|<br/>)*", label), label
    heads = [
        re.sub(r"#(\d+);", lambda found: chr(int(found[1])), label.partition("<br/>")[0])
        for label in re.findall(r'n\d+\["([^"]*)"\]', body)
    ]
    assert heads == [f"+ {expected(name)}" for name in NAMES] * max(len(rounds), 1)
    assert len(re.findall("-->", body)) == (len(NAMES) - 1) * max(len(rounds), 1)
    outside = re.sub(r'"[^"]*"', "", body)
    assert re.fullmatch(r"(?:\s|\w|\[\]|-->\|\||subgraph|end|style|fill:#\w+,color:#\w+)*", outside)


@pytest.mark.parametrize("rounds", [(), ("round 1", "round 2")])
def test_names_in_dot_are_quoted_strings_that_read_back(rounds: tuple[str, ...]) -> None:
    text = as_dot(drawing(*rounds))
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    assert re.fullmatch(r"[\w\s{}\[\];=,>-]*", outside)
    said = {
        unescape(re.sub(r"\\(.)", r"\1", part))
        for string in strings
        for part in re.split(r"(?<!\\)(?:\\\\)*\\n", string)
    }
    assert {f"+ {expected(name)}" for name in NAMES if not name.endswith("\\")} <= said
    assert all(part.isprintable() for part in strings)


@pytest.mark.parametrize("rounds", [(), ("round 1", "round 2")])
def test_names_in_a_picture_are_its_texts(rounds: tuple[str, ...]) -> None:
    picture = ET.fromstring(as_svg(drawing(*rounds)))
    texts = [one.text for one in picture.iter(f"{SVG}text")]
    for name in NAMES:
        assert texts.count(f"+ {expected(name)}") == max(len(rounds), 1)
    assert picture.findtext(f"{SVG}title") == expected(NAMES[0])
    assert {one.tag for one in picture.iter()} == {
        f"{SVG}{name}" for name in ("svg", "title", "defs", "marker", "path", "rect", "text")
    }


def test_boxes_of_a_picture_do_not_overlap_and_targets_stand_below_their_sources() -> None:
    nodes = [DrawnNode(f"n{number}", "Type", ("line",) * (number % 3)) for number in range(30)]
    edges = [DrawnEdge(f"n{number}", f"n{number // 3}", "uses") for number in range(1, 30)]
    picture = ET.fromstring(as_svg(Drawing("tree", tuple(nodes), tuple(edges))))
    boxes = [
        tuple(float(one.get(name, "")) for name in ("x", "y", "width", "height")) for one in picture.iter(f"{SVG}rect")
    ]
    for at, (x, y, wide, high) in enumerate(boxes):
        for other_x, other_y, other_wide, other_high in boxes[:at]:
            apart = x + wide <= other_x or other_x + other_wide <= x or y + high <= other_y or other_y + other_high <= y
            assert apart
    for number in range(1, 30):
        assert boxes[number][1] + boxes[number][3] <= boxes[number // 3][1]


def test_an_arrow_that_passes_a_row_goes_around_the_boxes_between() -> None:
    nodes = [DrawnNode(name, "Type") for name in ("page", "data", "machine")]
    edges = [DrawnEdge("page", "data", "a"), DrawnEdge("data", "machine", "b"), DrawnEdge("page", "machine", "aside")]
    picture = ET.fromstring(as_svg(Drawing("web", tuple(nodes), tuple(edges))))
    right = max(float(box.get("x", "")) + float(box.get("width", "")) for box in picture.iter(f"{SVG}rect"))
    places = {one.text: float(one.get("x", "")) for one in picture.iter(f"{SVG}text")}
    assert places["a"] == places["b"] < right < places["aside"] < float(picture.get("width", ""))


def test_a_circle_is_drawn_and_ends() -> None:
    nodes = (DrawnNode("a", "A"), DrawnNode("b", "B"))
    edges = (DrawnEdge("a", "b", "x"), DrawnEdge("b", "a", "y"), DrawnEdge("a", "a", "z"))
    circle = Drawing("circle", nodes, edges)
    assert len(list(ET.fromstring(as_svg(circle)).iter(f"{SVG}rect"))) == 2
    assert as_text(circle).splitlines() == ["circle", "", "a  A", "    x b", "    z a", "b  B", "    y a"]


@pytest.mark.parametrize("form", [as_text, as_mermaid, as_dot, as_svg])
def test_nothing_to_draw_is_a_whole_diagram(form) -> None:  # type: ignore[no-untyped-def]  # one of four functions
    assert "nothing" in form(Drawing("nothing", (), ()))
