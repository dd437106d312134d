"""Modules that compile patterns while they are imported are imported without, and their patterns are what they would have been."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

import pytest

from phaseline.cli.startup.deferred_patterns import LaterPattern, spec_of

SOURCE = """
import re
PATTERN = re.compile("a (b)", re.X)

def found(text):
    return re.search("b+", text)[0], PATTERN.match(text)[1]
"""
TEXTS = (
    "1",
    "-0",
    "012",
    "0x1f",
    "0b10",
    "1_000",
    "1.5",
    "1e3",
    ".5",
    "190:20:30",
    "yes",
    "Off",
    "null",
    "~",
    "",
    "<<",
    "=",
    "2001-12-14",
    "x",
)
RESOLVED = """
import sys
from phaseline.cli.startup import fast_start as lean
if sys.argv[1] == "lean":
    lean.begin()
import yaml
import re
if sys.argv[1] == "lean":
    assert type(yaml.reader.Reader.NON_PRINTABLE) is not re.Pattern
    assert yaml.resolver.re is re is yaml.constructor.re
texts = sys.argv[2:]
def told(text, loader):
    try:
        return repr(yaml.load(text, Loader=loader))
    except yaml.YAMLError as error:
        return str(error)
print([[told(text, loader) for text in texts] for loader in (yaml.SafeLoader, yaml.CSafeLoader)])
print([yaml.safe_dump(text) for text in texts])
"""


def imported(folder: Path, text: str) -> ModuleType:
    (folder / "compiling.py").write_text(text)
    spec = spec_of("compiling", [str(folder)])
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_pattern_is_compiled_when_something_is_asked_of_it(tmp_path: Path) -> None:
    module = imported(tmp_path, SOURCE)
    assert type(module.PATTERN) is LaterPattern
    assert module.found("ab") == ("b", "b")
    assert module.re is re
    assert module.PATTERN.flags & re.VERBOSE


def test_a_copy_is_an_ordinary_pattern() -> None:
    assert copy.deepcopy(LaterPattern("a", re.IGNORECASE)) == re.compile("a", re.IGNORECASE)


def test_what_is_no_pattern_is_told_by_who_asks() -> None:
    later = LaterPattern("(")
    with pytest.raises(re.error, match="missing"):
        later.match("x")


def test_what_is_no_ordinary_file_is_left_to_python() -> None:
    assert spec_of("_struct", None) is None
    assert spec_of("there_is_no_such_module", None) is None


def test_yaml_resolves_and_writes_what_it_does_otherwise() -> None:
    said = [
        subprocess.run([sys.executable, "-c", RESOLVED, how, *TEXTS], capture_output=True, text=True, check=True).stdout
        for how in ("lean", "plain")
    ]
    assert said[0] == said[1]
    assert "datetime.date(2001, 12, 14)" in said[0]
