"""Units of systemd that start what is due (SC5, A55)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import phaseline
from phaseline.use_cases.tools.timer_units import quoted, units_of

COMMAND = ["/bin/true", "100% $HOME", 'a "b"', "engine"]
ODD = {"ONE": "50% of $HOME", "TWO": 'a "b" \\ c', "THREE": "", "PYTHONPATH": "/one:/two dir"}


def test_a55_systemd_accepts_the_units(tmp_path: Path) -> None:
    """Where there is no systemd, the other tests say what the units have in them."""
    if shutil.which("systemd-analyze") is None:
        return
    for unit in units_of("phaseline-schedules-1", COMMAND, ODD, "sqlite:////a b%20/store.db"):
        (tmp_path / unit.name).write_text(unit.text)
    files = sorted(map(str, tmp_path.iterdir()))
    checked = subprocess.run(["systemd-analyze", "verify", *files], capture_output=True, text=True, check=False)
    ours = [line for line in checked.stderr.splitlines() if "phaseline" in line]
    assert (ours, checked.returncode) == ([], 0)
    told = subprocess.run(["systemd-analyze", "calendar", "minutely"], capture_output=True, text=True, check=False)
    assert "*-*-* *:*:00" in told.stdout


def test_sc5_words_of_a_unit_keep_their_signs() -> None:
    assert [quoted(word) for word in ("plain", "", "50%", 'a "b"', "a\nb", "\\")] == [
        "plain", '""', "50%%", '"a \\"b\\""', '"a\\nb"', '"\\\\"',
    ]  # fmt: skip
    service, timer = units_of("name", ["run", "$HOME"], {"B": "$HOME", "A": "1"}, "memory:")
    assert "Environment=A=1\nEnvironment=B=$HOME\nExecStart=run $$HOME\n" in service.text
    assert "OnCalendar=minutely\nAccuracySec=1s\nPersistent=true\n" in timer.text


def test_sc5_units_are_written_for_a_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with phaseline.open(f"sqlite:///{tmp_path}/store.db") as client:
        printed = client.schedules.timer()
        assert printed.folder == ""
        assert not (tmp_path / "config").exists()
        written = client.schedules.timer(install_user=True)
    folder = Path(written.folder)
    assert folder == tmp_path / "config" / "systemd" / "user"
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        unit.name: unit.text for unit in printed.units
    }
    assert "engine run --due" in printed.units[0].text
    assert f"sqlite:///{tmp_path}/store.db" in printed.units[0].text
    assert printed.units[1].name in printed.start


def test_sc5_a_store_in_memory_has_no_timer() -> None:
    with phaseline.open("memory:") as client, pytest.raises(phaseline.ProblemsError, match="PL-C147"):
        client.schedules.timer()
