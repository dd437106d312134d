"""What is imported when: the parsing library with the first expression, the pattern engine with the first pattern."""

import subprocess
import sys

import pytest

IMPORTS = "import sys; from phaseline.records.formats import record_text as formal; from phaseline.records.formats import cfg_text as informal; from phaseline.records.formats import json_codec as json_form; from phaseline.records.formats import canonical_text as printing; from phaseline.records import series, record, expression\n"


@pytest.mark.parametrize(
    ("code", "lark", "re2"),
    [
        ("formal.parse_record('A = {1, absTime(\"2026-01-01\")}')", False, False),
        ("informal.parse_definition('A = b, c')", False, False),
        ("formal.parse_record('A := 1 + b')", True, False),
        ("expression.Expression('regexp(\"a\", b)')", True, True),
    ],
)
def test_what_is_heavy_is_imported_when_it_is_needed(code: str, lark: bool, re2: bool) -> None:
    program = f"{IMPORTS}{code}\nprint('lark' in sys.modules, 're2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(lark), str(re2)]


def test_commands_without_expressions_import_neither() -> None:
    program = "import sys; from phaseline.cli.command_tree import root; root.main(['--help'], standalone_mode=False)\n"
    program += "print('phaseline.records.record' in sys.modules, 'lark' in sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.split() == ["False", "False"]
