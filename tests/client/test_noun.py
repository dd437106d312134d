"""A noun is made when it is used, once for each client."""

from __future__ import annotations

import subprocess
import sys

from tests.client.recorder import Recorder

from phaseline.client.client import Client, NounOf, hear_nothing
from phaseline.client.executions import ExecutionsNoun

LOADED = "import sys; from phaseline.client.client import Client; c = Client(); {}; print(*sys.modules)"


def loaded(statement: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", LOADED.format(statement)], capture_output=True, text=True, check=True)
    return {name for name in done.stdout.split() if name.startswith("phaseline.client.")}


def test_the_module_of_a_noun_is_imported_with_the_first_use() -> None:
    before = loaded("pass")
    assert before == {f"phaseline.client.{name}" for name in ("client", "operations")}
    assert loaded("c.hooks") - before == {"phaseline.client.hooks"}


def test_a_noun_is_made_once_and_belongs_to_its_client() -> None:
    one, two = Recorder(), Recorder()
    assert one.executions is one.executions
    assert one.executions is not two.executions
    assert type(one.executions) is ExecutionsNoun


def test_the_class_itself_says_which_noun_it_would_be() -> None:
    assert isinstance(Client.executions, NounOf)
    assert Client.executions.kind is ExecutionsNoun
    hear_nothing("what nobody asked for")
