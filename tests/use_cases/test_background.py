"""What a background engine is told: the settings of who starts it, and where the code of that program lies."""

import os
import sys
from pathlib import Path

from phaseline.use_cases.background import COMMAND, environment_of
from phaseline.use_cases.settings import load_settings


def test_settings_that_a_program_gives_are_those_of_the_engine_that_it_starts(tmp_path: Path) -> None:
    """Also where they are empty, and the file that lies where the engine begins says something else."""
    (tmp_path / "phaseline.toml").write_text('[plugins]\npath = "others"\n[hooks]\nclasses = "acme.hooks:Other"\n')
    given = {
        "store.url": f"sqlite:///{tmp_path}/s.db",
        "run.threads": "3",
        "hooks.classes": "house:Quota",
        "plugins.path": "code",
    }
    for more in ({}, {"plugins.path": "", "hooks.classes": ""}):
        mine = load_settings(config=os.devnull, given=given | more, environment={"HOME": "/h"}, folder=tmp_path)
        told = environment_of(mine, {"HOME": "/h"}, ())
        assert load_settings(config=COMMAND[1], environment=told, folder=tmp_path) == mine
        assert not any("house:Quota" in word or "code" in word for word in COMMAND), "nothing stands on a command line"


def test_code_beside_a_program_is_found_by_the_engine_that_it_starts(tmp_path: Path) -> None:
    settings = load_settings(config=os.devnull, given={"store.url": "memory:"}, environment={"HOME": "/h"})
    beside, more = str(tmp_path / "program"), str(tmp_path / "more")
    searched = ["", beside, str(Path(sys.base_prefix, "lib", "python311.zip")), str(tmp_path / "announced")]
    told = environment_of(settings, {"PYTHONPATH": more}, searched)
    assert told["PYTHONPATH"] == os.pathsep.join([more, beside])
    assert "PYTHONPATH" not in environment_of(settings, {}, ["", sys.prefix])
