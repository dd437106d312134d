"""A module is read as text: what is not Python 3 is told with its line, and nothing of it is run."""

from pathlib import Path

from tests.catalog.phases.plugin_files import read_plugin

from phaseline.catalog.phases.module_source import MAX_SOURCE_BYTES, missing_imports, read_source


def test_p96_the_old_except_is_told_with_file_line_and_the_modern_spelling(tmp_path: Path) -> None:
    code = "def handle(handler):\n    try:\n        pass\n    except acme.Error, e:\n        raise\n"
    plugin = read_plugin(tmp_path, code=code)
    [problem] = plugin.errors
    assert problem.code == "PL-D003"
    assert (problem.place.file, problem.place.line, problem.place.column) == (f"{tmp_path}/create.py", 4, 12)
    assert problem.place.text == "    except acme.Error, e:"
    assert "`except acme.Error as e:`" in problem.mend
    assert plugin.phase is not None


def test_p96_every_such_line_is_told_and_what_else_is_wrong() -> None:
    text = b"try:\n    a()\nexcept (X, Y), e:\n    print 'no'\ntry:\n    b()\nexcept Z , f :\n    pass\n"
    found = read_source(text, "x.py").problems
    assert [(problem.code, problem.place.line) for problem in found] == [
        ("PL-D003", 3),
        ("PL-D002", 4),
        ("PL-D003", 7),
    ]


def test_two_exceptions_in_brackets_are_modern() -> None:
    assert read_source(b"try:\n    a()\nexcept (X, Y) as e:\n    pass\n", "x.py").problems == ()


def test_other_mistakes_of_syntax_have_their_place() -> None:
    [problem] = read_source(b"def handle(handler:\n    pass\n", "x.py").problems
    assert (problem.code, str(problem.place)) == ("PL-D002", "x.py:1:11")


def test_a_text_with_zero_bytes_is_no_python() -> None:
    assert [problem.code for problem in read_source(b"a = 1\0", "x.py").problems] == ["PL-D002"]


def test_a_module_that_is_too_large() -> None:
    assert [problem.code for problem in read_source(b"#" * (MAX_SOURCE_BYTES + 1), "x.py").problems] == ["PL-D050"]


def test_an_import_that_is_nowhere_is_found_without_importing(tmp_path: Path) -> None:
    (tmp_path / "near.py").write_text("raise SystemExit('must not run')\n")
    text = b"import json, near\nfrom numpy import array\ntry:\n    import perhaps\nexcept ImportError:\n    pass\nimport acme_cloud.api\n"
    [problem] = missing_imports(read_source(text, "x.py"), [str(tmp_path)])
    assert (problem.code, problem.place.line) == ("PL-D005", 7)
    assert "acme_cloud.api" in problem.message


def test_a_module_that_arranges_its_path_is_believed() -> None:
    text = b"import sys\nsys.path.append('/somewhere')\nimport acme_cloud\n"
    assert list(missing_imports(read_source(text, "x.py"), [])) == []
