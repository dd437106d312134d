"""PasswordSecret and Blueprint nodes (CO19): what they make, what of it can be seen, and what is deleted again."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.compat.cloudify.types.estates import INNER, Yard
from tests.compat.cloudify.types.test_component import messages

from phaseline.compat.cloudify.types import password_rules
from phaseline.model.problems.problem import ProblemsError

HEAD = """
tosca_definitions_version: cloudify_dsl_1_5
imports: [cloudify/types/types.yaml]
node_templates:
  key:
"""
PASSWORD = HEAD + "    type: cloudify.nodes.PasswordSecret\n    properties: {length: 24, digits: 3, symbols: -1}\n"
BLUEPRINT = HEAD + "    type: cloudify.nodes.Blueprint\n    properties: {blueprint: {id: pg, blueprint_archive: inner}}\n"


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    found = Yard(tmp_path)
    with found.client:
        yield found


def test_a17_ten_thousand_draws_have_the_wanted_characters() -> None:
    chance = random.SystemRandom()
    wanted = {"length": 12, "uppercase": 2, "lowercase": -1, "digits": 3, "symbols": 1}
    for _ in range(10_000):
        text = password_rules.draw(wanted, chance)
        counts = {name: sum(one in group for one in text) for name, group in password_rules.GROUPS.items()}
        assert len(text) == 12
        assert counts["lowercase"] == 0
        assert counts["uppercase"] >= 2
        assert counts["digits"] >= 3
        assert counts["symbols"] >= 1


@given(st.fixed_dictionaries({name: st.integers(-3, 12) for name in ("length", *password_rules.GROUPS)}))
def test_co19_rules_have_a_flaw_exactly_if_no_password_fulfils_them(wanted: dict[str, int]) -> None:
    counts = [wanted[name] for name in password_rules.GROUPS]
    possible = wanted["length"] >= 6 and min(counts) >= -1 and max(counts) >= 0
    possible = possible and sum(count for count in counts if count > 0) <= wanted["length"]
    assert (not list(password_rules.flaws(wanted))) is possible
    if possible:
        assert len(password_rules.draw(wanted, random.SystemRandom())) == wanted["length"]


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


def test_co19_a_blueprint_node_stores_its_blueprint_and_deletes_it(yard: Yard) -> None:
    yard.app(BLUEPRINT, INNER)
    done = yard.client.executions.install(str(yard.folder / "app/blueprint.yaml"), "app")
    assert done.status == "completed", messages(done)
    (row,) = yard.client.blueprints.list()
    assert (str(row.blueprint), row.blueprint.main_file) == ("pg@1", "blueprint.yaml")
    assert yard.client.executions.uninstall("app").status == "completed"
    assert not yard.client.blueprints.list()


def test_co19_a_blueprint_that_is_used_stays(yard: Yard) -> None:
    yard.app(BLUEPRINT, INNER)
    yard.client.executions.install(str(yard.folder / "app/blueprint.yaml"), "app")
    yard.client.deployments.create("pg", "other")
    gone = yard.client.executions.uninstall("app")
    assert gone.status == "completed", messages(gone)
    assert [str(row.blueprint) for row in yard.client.blueprints.list()] == ["pg@1"]
