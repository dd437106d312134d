"""What a background engine is told: the settings of who starts it, and where the code of that program lies."""

import os
import sys
from pathlib import Path

import phaseline
from phaseline.app.background_engine import COMMAND, environment_of, launch
from phaseline.app.settings import load_settings
from phaseline.embedded.hand_over_to_background import ensure_taken_up
from phaseline.use_cases.commands.submission import Submission, SubmissionAnswer
from phaseline.views.background import Background

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates: {vm: {type: cloudify.nodes.Root}}
"""


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


def test_an_engine_that_lives_and_does_not_begin_is_told_of_as_such(tmp_path: Path) -> None:
    """A process that hangs in its first lines: it does not carry on with anything."""
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    with phaseline.open(f"sqlite:///{tmp_path}/store.db") as nouns:
        ctx = nouns.ctx
        ctx.app.launch = None
        asked = nouns.executions.install(str(tmp_path / "blueprint.yaml"), "shop", detach=True)
        assert asked.status == "queued"
        ctx.app.launch = lambda _: Background(os.getpid(), "engine.log")
        row = ctx.store.execution(asked.id)
        assert row is not None
        found = ensure_taken_up(ctx, SubmissionAnswer(Submission(row)), within_s=0.2)
    assert found is not None
    assert not found.has_begun
    assert str(found).startswith(
        f"The engine in the background has not started yet: process {os.getpid()}, log engine.log"
    )


def test_an_engine_whose_log_cannot_be_written_names_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    log = str(tmp_path / "file" / "log")
    with phaseline.open(f"sqlite:///{tmp_path}/store.db", settings={"log.file": log}) as nouns:
        started = launch(nouns.ctx.app)
    assert started is not None
    os.waitpid(started.pid, 0)
    assert started.log == ""
    assert "without a log, whose file cannot be written" in str(started)
    assert started.last_words() == ""
