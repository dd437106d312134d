"""A failure that is tried again is told at once to whoever asks, from any terminal, and how to end that once it repeats itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.processes.shells import Shell

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates:
  first:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: scripts/bad.sh}}
  second:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: scripts/bad.sh}}
    relationships: [{type: cloudify.relationships.depends_on, target: first}]
  third:
    type: cloudify.nodes.Root
    relationships: [{type: cloudify.relationships.depends_on, target: second}]
"""
BAD = "#!/bin/sh\necho trying >&2\necho no route to host >&2\nexit 3\n"
DIFFERS = '#!/bin/sh\necho x >> "$HERE/tries"\necho "try $(wc -l < "$HERE/tries")" >&2\nexit 3\n'
HOURS = "(9 h 59|10 h 0) min"
END = "phaseline executions cancel install-1"


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    (tmp_path / "scripts").mkdir()
    started = Shell(tmp_path)
    try:
        yield started
    finally:
        started.end_all()


def install(shell: Shell, script: str, every_s: float) -> None:
    """Begin an install in the background whose first operation fails and is tried again after that time."""
    (shell.folder / "scripts" / "bad.sh").write_text(script)
    (shell.folder / "scripts" / "bad.sh").chmod(0o755)
    shell.retry_interval_s = every_s
    done = shell.run("install", "blueprint.yaml", "-d", "f", "--detach")
    assert done.returncode == 0, done.stderr


def failing(shell: Shell) -> Any:
    """The calls of the execution that are tried again."""
    return shell.ask("executions", "show", "install-1")["failing"]


def test_a_first_failure_is_named_by_show_why_and_status_while_its_retry_is_pending(shell: Shell) -> None:
    install(shell, BAD, 36_000)
    shell.until(lambda: failing(shell))
    (call,) = failing(shell)
    first = call["instance"]
    assert (call["operation"], call["attempts"], call["max_retries"], call["is_repeated"]) == (
        "cloudify.interfaces.lifecycle.create",
        1,
        60,
        False,
    )
    told = shell.run("executions", "show", "install-1").stdout
    assert re.search(f"  {first} create failing: retry 1 of 60 in {HOURS}: scripts/bad.sh ended", told)
    assert ": scripts/bad.sh ended with exit code 3: no route to host\n" in told
    assert "end the retries" not in told
    text = shell.run("instances", "why", "-d", "f").stdout
    assert text.startswith("failing  1 × create")
    assert re.search(f"    failing: retry 1 of 60 in {HOURS}: scripts/bad.sh ended", text)
    assert first in text
    status = shell.ask("status")
    assert (status["failing_count"], status["needs"]) == (1, [])
    text = shell.run("status").stdout
    assert re.search(f"\nfailing  {first} create of 'f': retry 1 of 60 in {HOURS}: scripts/bad.sh ended", text)
    assert "Nothing needs a person." in text


def test_a_dependent_of_a_dependent_names_the_instance_that_fails(shell: Shell) -> None:
    install(shell, BAD, 36_000)
    shell.until(lambda: failing(shell))
    first = failing(shell)[0]["instance"]
    (third,) = shell.ask("instances", "list", "-d", "f", "--node", "third")["instances"]
    text = shell.run("instances", "why", third["id"]).stdout
    assert re.search(f"      {first} create failing: retry 1 of 60 in {HOURS}: scripts/bad.sh ended", text)
    (reason,) = shell.ask("instances", "why", third["id"])["reasons"]
    assert [root["instance"] for root in reason["roots"]] == [first]


def test_the_second_equal_failure_needs_a_person_and_says_how_to_end_the_retries(shell: Shell) -> None:
    install(shell, BAD, 0.5)
    shell.until(lambda: any(call["is_repeated"] for call in failing(shell)))
    assert f"  the same failure again; end the retries: {END}\n" in shell.run("executions", "show").stdout
    (need,) = shell.ask("status")["needs"]
    assert need["mend"] == END
    (stuck,) = shell.ask("instances", "stuck")["stuck"]
    assert (stuck["kind"], stuck["is_repeated"], stuck["mends"]) == ("sleeping", True, [f"end the retries: {END}"])


def test_failures_that_differ_are_told_and_need_nobody(shell: Shell) -> None:
    install(shell, DIFFERS, 0.5)
    shell.until(lambda: any(call["attempts"] > 1 for call in failing(shell)))
    assert not any(call["is_repeated"] for call in failing(shell))
    assert shell.ask("status")["needs"] == []


def test_what_was_canceled_fails_no_more(shell: Shell) -> None:
    install(shell, BAD, 36_000)
    shell.until(lambda: failing(shell))
    shell.run("executions", "cancel", "install-1")
    assert failing(shell) == []
    assert shell.ask("status")["failing_count"] == 0
