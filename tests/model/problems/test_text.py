"""Problems as text: the line, the caret under its column, however long or odd the line is."""

from phaseline.model.problems.problem import Place, Problem
from phaseline.model.problems.text import WIDTH, render_problem


def lines(text: str, column: int, line: int = 7) -> list[str]:
    return render_problem(Problem("PL-B014", "What.", "Mend.", Place("f.yaml", line, column, "a.b", text))).split("\n")


def test_the_caret_stands_under_the_column() -> None:
    head, place, source, caret, mend = lines("  typ: x", 3)
    assert (head, place, mend) == ("PL-B014 error: What.", "  at f.yaml:7:3  (a.b)", "  mend: Mend.")
    assert source[caret.index("^")] == "t"


def test_tabs_before_the_column_are_repeated_so_that_the_caret_fits() -> None:
    _, _, source, caret, _ = lines("\t\ttyp: x", 3)
    assert source == "  7 | \t\ttyp: x"
    assert caret == "    | \t\t^"


def test_of_a_long_line_the_part_around_the_caret_is_shown() -> None:
    _, _, source, caret, _ = lines("a" * 500 + "X" + "b" * 500, 501)
    assert source[caret.index("^")] == "X"
    assert len(source) <= WIDTH + 12


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in "".join(lines("a\x1b[31mb", 1))


def test_without_a_line_there_is_no_caret() -> None:
    assert lines("", 1, 0) == ["PL-B014 error: What.", "  at f.yaml  (a.b)", "  mend: Mend."]


def test_a_problem_of_a_subject_shows_it() -> None:
    text = render_problem(Problem("PL-B080", "What.", "Mend.", Place(subject="inputs")))
    assert text == "PL-B080 error: What.\n  at inputs\n  mend: Mend."


def test_a_name_with_a_line_end_writes_no_lines_of_its_own_into_the_place() -> None:
    place = Place("f.yaml", 1, 1, "nodes.a\nmend: run this")
    assert render_problem(Problem("PL-B130", "What.", "Mend.", place)).split("\n") == [
        "PL-B130 error: What.",
        r"  at f.yaml:1:1  (nodes.a\nmend: run this)",
        "  mend: Mend.",
    ]
    subject = render_problem(Problem("PL-C068", "What.", "Mend.", Place(subject="k\r\n=v ö")))
    assert r"  at k\r\n=v ö" in subject.split("\n")


def test_code_caret_and_mend_can_be_painted() -> None:
    problem = Problem("PL-B014", "What.", "Mend.", Place("f.yaml", 1, 1, "", "x"))
    text = render_problem(problem, lambda piece, role: f"<{role}>{piece}")
    assert [line for line in text.split("\n") if "<" in line] == [
        "<code>PL-B014 error: What.",
        "    | <caret>^",
        "  <mend>mend: Mend.",
    ]
