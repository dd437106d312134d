"""Master keys from a command (rule BK3)."""

import base64
import sys
from pathlib import Path

import pytest

from phaseline.model.problems.problem import ProblemsError
from phaseline.vault.envelope import KEY_BYTES
from phaseline.vault.master_keys import VARIABLE, MasterKeys

OLD, NEW = bytes(range(KEY_BYTES)), bytes(range(1, KEY_BYTES + 1))


def words(*keys: bytes) -> str:
    return " ".join(base64.b64encode(key).decode() for key in keys)


def command(tmp_path: Path, code: str) -> str:
    """A command that runs Python code and counts its calls."""
    file = tmp_path / "a key"
    file.write_text(f"open({str(tmp_path / 'calls')!r}, 'a').write('x')\n{code}\n")
    return f"{sys.executable} '{file}'"


def refusal(keys: MasterKeys) -> tuple[str, str]:
    with pytest.raises(ProblemsError) as caught:
        keys.read()
    (problem,) = caught.value.problems
    assert problem.mend
    return problem.code, problem.message


def test_bk3_a_command_prints_the_keys_once_in_a_process(tmp_path: Path) -> None:
    keys = MasterKeys(str(tmp_path / "file"), {}, command=command(tmp_path, f"print({words(NEW, OLD)!r})"))
    assert (keys.newest(), keys.read()) == (NEW, [NEW, OLD])
    assert (tmp_path / "calls").read_text() == "x"
    assert not (tmp_path / "file").exists()
    assert (keys.are_in_file, "secrets.key_command" in keys.place) == (False, True)


def test_bk3_the_variable_counts_before_the_command(tmp_path: Path) -> None:
    keys = MasterKeys("", {VARIABLE: words(OLD)}, command=command(tmp_path, "raise SystemExit(1)"))
    assert keys.read() == [OLD]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise SystemExit(7)", "code 7"),
        ("pass", "printed nothing"),
        ("print('hush')", "32 bytes"),
    ],
)
def test_bk3_a_command_that_fails_is_a_problem_without_its_output(tmp_path: Path, code: str, told: str) -> None:
    found, message = refusal(MasterKeys("", {}, command=command(tmp_path, code)))
    assert (found, told in message, "hush" in message) == ("PL-S021", True, False)


def test_bk3_a_command_that_does_not_exist_is_a_problem() -> None:
    code, message = refusal(MasterKeys("", {}, command="/no/such/program"))
    assert (code, "No such file" in message) == ("PL-S021", True)
