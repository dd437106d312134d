"""Texts of blueprints, plugins, scripts and stored names steer no terminal, whatever command shows them; ``--json`` is exact."""

import json
import re
import sqlite3
from contextlib import chdir
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from tests.cli.clusters import moved, plugins, record
from tests.cli.terminal import BLUEPRINT, Terminal
from tests.ptys import on_terminal

from phaseline.cli.command_tree import root
from phaseline.cli.reference_docs import walk
from phaseline.cli.streams.escaping import visible

WORD = "Hazard"
HOSTILE = "Ha\x1b]0;owned\x07\x1b[2J\x1b[35m\x9b31m\r\x08\u202e\u2066zard\x7f"
"""Title, clear the screen, a color, the same by C1, back to the first column, backspace, text from right to left, delete."""
SHOWN = r"Ha\x1b]0;owned\x07\x1b[2J\x1b[35m\x9b31m\r\x08\u202e\u2066zard\x7f"
OURS = re.compile(r"\x1b\[(?:0|1|3[1-46]|3[1-46];1)m")
"""Colors that we paint with; magenta (35) is none of them."""
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
SHOP = f"{WORD}-shop"
TEXTS = f"""
description: "{json.dumps(HOSTILE)[1:-1]}"
labels: {{ {WORD}: {{ values: [{json.dumps(HOSTILE)}] }} }}
capabilities: {{ said: {{ value: {json.dumps(HOSTILE)} }} }}
"""
FAILS = """

@operation
def fail(item):
    item.log.warning(HOSTILE)
    print(HOSTILE)
    item.runtime_properties[HOSTILE] = HOSTILE
    raise NonRecoverableError(HOSTILE)
"""
SCRIPT = '#!/bin/sh\nprintf \'%s\\n\' "$HOSTILE" >&2\nctx logger warning "$HOSTILE"\nexit 1\n'


def steers(text: str) -> list[str]:
    """Characters in it that would steer a terminal and are not our own colors."""
    return STEERING.findall(OURS.sub("", text))


def run(terminal: Terminal, *words: str) -> Result:
    """The command as on a terminal with colors."""
    environment = {**terminal.environment, "HOSTILE": HOSTILE}
    return CliRunner().invoke(root, words, prog_name="phaseline", env=environment, color=True)


def write_blueprint(terminal: Terminal) -> str:
    """One that says hostile texts wherever a blueprint can, with a function and a script that do."""
    text = BLUEPRINT.replace(", hidden: true", "").replace(
        "word: {default: hello}", f"word: {{default: {json.dumps(HOSTILE)}}}"
    )
    text = text.replace("delete: made.made.delete", "delete: made.made.delete\n        start: scripts/say.sh")
    text = text.replace("made.made.create", "made.made.fail", 1).replace("base", f"{WORD}_base")
    path = terminal.write(text.replace("{count: {default: 2}", "{count: {default: 1}") + TEXTS)
    module = terminal.folder / "plugins" / "made.py"
    module.write_text(f"HOSTILE = {HOSTILE!r}\n" + module.read_text() + FAILS)
    (terminal.folder / "scripts").mkdir(exist_ok=True)
    (terminal.folder / "scripts" / "say.sh").write_text(SCRIPT)
    (terminal.folder / "scripts" / "say.sh").chmod(0o755)
    return path


def plant(terminal: Terminal) -> int:
    """Put the hostile text wherever the word stands in the store, as older versions would have taken it; how often."""
    db = sqlite3.connect(terminal.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///"))
    count = 0
    with db:
        tables = [name for (name,) in db.execute("select name from sqlite_master where type = 'table'")]
        for table in tables:
            for column in [row[1] for row in db.execute(f"pragma table_info({table})")]:
                values = {value for (value,) in db.execute(f"select {column} from {table}")}
                for value in values:
                    planted = _planted(value)
                    if planted != value:
                        count += 1
                        db.execute(f"update or ignore {table} set {column} = ? where {column} = ?", (planted, value))
    db.close()
    return count


def _planted(value: object) -> object:
    if isinstance(value, bytes):
        return value.replace(WORD.encode(), HOSTILE.encode()) if WORD.encode() in value else value
    if not isinstance(value, str) or WORD not in value:
        return value
    is_json = value[:1] in '[{"'
    return value.replace(WORD, json.dumps(HOSTILE)[1:-1] if is_json else HOSTILE)


@pytest.fixture(scope="module")
def filled_once(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """A store that is full of hostile texts, for tests that change nothing in it."""
    made = Terminal.in_folder(tmp_path_factory.mktemp("hostile"))
    with chdir(made.folder):
        fill(made)
    return made


@pytest.fixture
def hostile(filled_once: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.chdir(filled_once.folder)
    return filled_once


def fill(terminal: Terminal) -> None:
    """Fill its store with hostile texts: failed, stopped, kept, forgotten and paused things with such names."""
    plugins(terminal)
    moved(terminal, record(f"{WORD}-1", Trouble=WORD), record("n2"))
    file = write_blueprint(terminal)
    good = str(terminal.folder / "good.yaml")
    Path(good).write_text(
        Path(file)
        .read_text()
        .replace("made.made.fail", "made.made.create")
        .replace("        start: scripts/say.sh\n", "")
    )
    run(terminal, "blueprints", "upload", good, f"{WORD}-print")
    assert run(terminal, "install", good, "-d", f"{WORD}-good").exit_code == 0
    assert run(terminal, "install", file, "-d", SHOP).exit_code == 1
    run(terminal, "plan", "uninstall", "-d", SHOP, "--save")
    run(terminal, "snapshots", "create", f"{WORD}-snap", "-d", f"{WORD}-good")
    run(terminal, "install", good, "-d", f"{WORD}-left")
    run(terminal, "abandon", "-d", f"{WORD}-left")
    run(terminal, "secrets", "create", f"{WORD}_key", "--value", HOSTILE)
    run(terminal, "secrets", "create", "pass", "--value", HOSTILE)
    run(terminal, "phases", "pause", "Acme.Create", "--reason", HOSTILE)
    run(terminal, "deployments", "labels", SHOP, "--add", f"{WORD}={WORD}")
    run(terminal, "executions", "complete", "install-3", "--instance", f"{WORD}_base", "--reason", HOSTILE)
    assert plant(terminal) > 10


SHOWING = [
    *(f"{noun} list" for noun in ("deployments", "instances", "executions", "plans", "snapshots", "abandoned")),
    *(f"{noun} list" for noun in ("blueprints", "secrets", "phases", "plugins", "hooks", "breakpoints", "resources")),
    *(f"deployments {verb} SHOP" for verb in ("show", "inputs", "outputs", "capabilities", "labels", "history")),
    *(f"executions {verb} -d SHOP" for verb in ("show", "logs", "events", "timeline")),
    *("instances stuck", "instances list -d SHOP", "instances show BASE", "instances why BASE"),
    *("status", "doctor", "engine status", "store check", "plans show plan-1", "phases show Acme.Create"),
    *("snapshots show HOSTILE-snap -d GOOD", "abandoned show GOOD", "export -d GOOD", "secrets show HOSTILE_key"),
    *("resources why HOSTILE-1", "resources history HOSTILE-1", "resources list"),
    *("plan install blueprint.yaml", "plan uninstall -d SHOP", "plan heal -d SHOP", "plan update -d SHOP good.yaml"),
    *("blueprints validate blueprint.yaml", "blueprints show HOSTILE-print", "blueprints plan good.yaml"),
    *(
        "blueprints diff blueprint.yaml good.yaml",
        "blueprints explain blueprint.yaml top",
        "deployments plugins list SHOP",
    ),
    *(
        "executions retry install-3",
        "-v executions retry install-3",
        "check -d GOOD",
        "uninstall -d SHOP --ignore-failure",
    ),
    *(
        "resources retry HOSTILE-1",
        "resources cancel HOSTILE-1",
        "resources delete HOSTILE-1",
        "deployments delete SHOP",
    ),
]


def filled(words: str) -> list[str]:
    """The words with the names that the store has."""
    names = {"SHOP": f"{HOSTILE}-shop", "GOOD": f"{HOSTILE}-good", "BASE": f"{HOSTILE}_base"}
    return [names.get(word, word.replace("HOSTILE", HOSTILE)) for word in words.split()]


def test_no_command_lets_stored_texts_steer_the_terminal(terminal: Terminal) -> None:
    fill(terminal)
    told = {}
    for words in SHOWING:
        result = run(terminal, *filled(words))
        assert steers(result.output) == [], (words, result.output)
        told[words] = result.output
    silent = {words for words in SHOWING if "\\x1b" not in told[words] and "\\u001b" not in told[words]}
    assert silent <= QUIET, "these show none of the planted texts: is the store still full of them?"


QUIET = {
    *("engine status", "store check", "plugins list", "phases list", "hooks list", "breakpoints list"),
    *(
        "blueprints validate blueprint.yaml",
        "blueprints diff blueprint.yaml good.yaml",
        "blueprints explain blueprint.yaml top",
    ),
    *("resources retry HOSTILE-1", "deployments history SHOP"),
}
"""Commands that show no text of others here."""


def arguments(command: click.Command) -> list[str]:
    """What a command needs, each of them hostile."""
    words: list[str] = []
    for parameter in command.params:
        if isinstance(parameter, click.Argument) and (parameter.required or parameter.name in {"id", "names"}):
            choices = getattr(parameter.type, "choices", None)
            words.append(choices[0] if choices else HOSTILE.replace("/", ""))
        elif parameter.required:
            words += [parameter.opts[0], HOSTILE]
    return words


NOT_RUN = {"demo", "engine run", "init", "plugins create", "plugins try"}
"""Commands that make something of that name on the disk, or run until they are ended."""


def test_no_command_lets_the_words_of_its_user_steer_the_terminal(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.make_store()
    for path, command in walk(root, "phaseline"):
        name = path.removeprefix("phaseline ")
        if isinstance(command, click.Group) or name in NOT_RUN:
            continue
        for more in ([], ["-d", HOSTILE] if any("-d" in one.opts for one in command.params) else [HOSTILE]):
            result = run(terminal, *name.split(), *arguments(command), *more)
            assert steers(result.output) == [], (name, result.output)


def test_documents_are_exact_and_steer_nothing(hostile: Terminal) -> None:
    for words in (
        "deployments show SHOP",
        "executions logs -d SHOP",
        "instances show BASE",
        "resources show HOSTILE-1",
    ):
        result = run(hostile, *filled(words), "--json")
        assert steers(result.stdout) == [], words
        assert HOSTILE in _strings(json.loads(result.stdout)), words


def _strings(value: object) -> str:
    if isinstance(value, dict):
        return "\n".join([*map(_strings, value), *map(_strings, value.values())])
    return "\n".join(map(_strings, value)) if isinstance(value, list) else str(value)


def test_logs_keep_tabs_and_lines_and_escape_the_rest(hostile: Terminal) -> None:
    told = run(hostile, *filled("executions logs -d SHOP")).stdout.splitlines()
    warned = [line for line in told if "WARNING" in line]
    assert warned
    assert all(line.endswith(SHOWN) for line in warned)
    assert visible("a\tb\n\x1b") == "a\tb\n\\x1b"


def test_a_secret_is_exact_in_a_pipe(hostile: Terminal) -> None:
    assert hostile.run("secrets", "show", "pass", "--reveal").stdout_bytes.decode() == f"{HOSTILE}\n"


@pytest.mark.parametrize("words", ["secrets show pass --reveal", "resources show HOSTILE-1", "deployments show SHOP"])
def test_on_a_terminal_even_that_is_escaped(hostile: Terminal, words: str) -> None:
    with on_terminal(*filled(words), folder=hostile.folder, environment=hostile.environment) as command:
        code, seen = command.end()
    assert code == 0
    assert steers(seen) == []
    assert SHOWN[-20:] in seen


def test_the_live_table_shows_hostile_names_escaped(hostile: Terminal) -> None:
    words = ("install", "blueprint.yaml", "-d", "live")
    with on_terminal(*words, folder=hostile.folder, environment={**hostile.environment, "HOSTILE": HOSTILE}) as command:
        code, seen = command.end()
    assert code == 1
    assert [found for found in ("\x1b]", "\x9b", "\u202e", "\x08", "\x1b[2J") if found in seen] == []
    assert SHOWN[-20:] in seen


def test_what_a_shell_completes_steers_nothing(hostile: Terminal) -> None:
    asked = {"_PHASELINE_COMPLETE": "bash_complete", "COMP_WORDS": "phaseline deployments show ", "COMP_CWORD": "3"}
    result = CliRunner().invoke(root, [], env={**hostile.environment, **asked}, prog_name="phaseline")
    assert steers(result.stdout) == []
