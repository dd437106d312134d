"""Documents go to stdout, or into a file that only its owner reads."""

from pathlib import Path

import pytest

from phaseline import ProblemsError
from phaseline.cli.shell.cli_context import CliContext
from phaseline.cli.shell.documents import put, write_private


def test_a_document_is_printed_or_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(CliContext(), {"name": "shop"}, None)
    assert capsys.readouterr().out == '{\n "name": "shop"\n}\n'
    put(CliContext(), {"name": "shop"}, str(tmp_path / "shop.json"))
    assert (tmp_path / "shop.json").read_text() == '{\n "name": "shop"\n}\n'
    assert (tmp_path / "shop.json").stat().st_mode & 0o777 == 0o600
    assert "Written:" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match="PL-C091"):
        write_private("text", str(tmp_path / "missing" / "file"))
