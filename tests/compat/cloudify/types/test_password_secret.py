"""PasswordSecret nodes (CO19): what they make, what of it can be seen, and what is deleted again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.compat.cloudify.types.estates import Yard
from tests.compat.cloudify.types.test_component import messages

from phaseline.model.problems.problem import ProblemsError

HEAD = """
tosca_definitions_version: cloudify_dsl_1_5
imports: [cloudify/types/types.yaml]
node_templates:
  key:
"""
PASSWORD = HEAD + "    type: cloudify.nodes.PasswordSecret\n    properties: {length: 24, digits: 3, symbols: -1}\n"


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    found = Yard(tmp_path)
    with found.client:
        yield found


def test_a17_the_password_is_a_secret_and_nowhere_in_clear(yard: Yard) -> None:
    done = yard.client.executions.install(yard.write("key/blueprint.yaml", PASSWORD), "app")
    assert done.status == "completed", messages(done)
    (instance,) = yard.client.instances.list(deployment="app").items
    name = f"ps_app_{instance.id}"
    text = yard.client.secrets.show(name, reveal=True).value
    assert text is not None
    assert len(text) == 24
    shown = yard.client.instances.show(instance.id).runtime_properties
    assert shown == {"password": {"get_secret": name}, "secret": {"name": name, "ours": True}}
    with closing(sqlite3.connect(yard.folder / "store.db")) as raw:
        dump = "\n".join(raw.iterdump())
    assert text not in dump
    lines = [*yard.client.executions.events("install-1").lines, *yard.client.executions.logs("install-1").lines]
    assert not any(text in line.text for line in lines)
    assert yard.client.executions.uninstall("app").status == "completed"
    assert not yard.client.secrets.list()


def test_co19_impossible_numbers_are_found_by_validate(yard: Yard) -> None:
    file = yard.write("key/blueprint.yaml", PASSWORD.replace("length: 24", "length: 5"))
    with pytest.raises(ProblemsError, match="'length' of a password is 5"):
        yard.client.blueprints.validate(file)
    file = yard.write("key/blueprint.yaml", PASSWORD.replace("digits: 3", "digits: 30"))
    with pytest.raises(ProblemsError, match="24 characters cannot have 30"):
        yard.client.blueprints.validate(file)


def test_co19_a_secret_that_was_there_before_is_used_and_stays(yard: Yard) -> None:
    file = yard.write(
        "key/blueprint.yaml", PASSWORD.replace("length: 24", "length: 24, secret_name: own, use_secret_if_exists: true")
    )
    yard.client.secrets.create("own", "value-of-somebody")
    assert yard.client.executions.install(file, "app").status == "completed"
    assert yard.client.executions.uninstall("app").status == "completed"
    assert yard.client.secrets.show("own", reveal=True).value == "value-of-somebody"


def test_co19_a_secret_that_was_there_before_is_not_taken_over(yard: Yard) -> None:
    file = yard.write("key/blueprint.yaml", PASSWORD.replace("length: 24", "length: 24, secret_name: own"))
    yard.client.secrets.create("own", "value-of-somebody")
    failed = yard.client.executions.install(file, "app", task_retries=0)
    assert "PL-C112" in messages(failed)
    assert yard.client.secrets.show("own", reveal=True).value == "value-of-somebody"
