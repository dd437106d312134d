"""Secrets are kept encrypted, come back as they were given, and survive a new master key; whoever lacks it gets nothing."""

import base64
import os
import stat
from pathlib import Path

import pytest
from tests.store.builders import FakeClock

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.sealed_values import SEAL, veiled
from phaseline.model.problems.problem import ProblemsError
from phaseline.store.memory.store import MemoryStore
from phaseline.vault.known_secrets import MASK
from phaseline.vault.master_keys import VARIABLE, MasterKeys, id_of
from phaseline.vault.vault import Vault

SECRET = "correct-horse-battery"


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(FakeClock())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "secrets.key"


def vault(store: MemoryStore, file: Path, **environment: str) -> Vault:
    return Vault(
        lambda tenant: store.of(tenant).secrets, store.identity(), MasterKeys(str(file), environment), FakeClock()
    )


def code(caught: pytest.ExceptionInfo[ProblemsError]) -> str:
    return caught.value.problems[0].code


def test_b41_a_secret_comes_back_and_its_row_does_not_hold_it(store: MemoryStore, file: Path) -> None:
    row = vault(store, file).create("db", SECRET, "ann")
    assert row is not None
    assert (row.version, row.created_by) == (1, "ann")
    assert SECRET.encode() not in row.body + row.key.wrapped
    assert vault(store, file).get("db") == SECRET


def test_b41_the_key_is_made_on_first_use_and_for_its_user_alone(store: MemoryStore, file: Path) -> None:
    kept = vault(store, file)
    assert kept.missing(["db"]) == ["db"]
    assert not file.exists()
    kept.create("db", SECRET, "ann")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert len(base64.b64decode(file.read_text().strip())) == 32


def test_b41_a_key_that_others_can_read_is_refused(store: MemoryStore, file: Path) -> None:
    vault(store, file).create("db", SECRET, "ann")
    file.chmod(0o640)
    with pytest.raises(ProblemsError) as caught:
        vault(store, file).get("db")
    assert code(caught) == "PL-S022"
    assert "chmod 600" in caught.value.problems[0].mend


@pytest.mark.parametrize("text", ["hello", "aGVsbG8=", "é"])
def test_b41_a_file_that_holds_no_key_is_refused_and_left(store: MemoryStore, file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(ProblemsError) as caught:
        vault(store, file).create("db", SECRET, "ann")
    assert code(caught) == "PL-S021"
    assert file.read_text() == text


def test_b41_without_its_key_nobody_reads_a_secret(store: MemoryStore, file: Path) -> None:
    vault(store, file).create("db", SECRET, "ann")
    known = id_of(base64.b64decode(file.read_text()))
    file.unlink()
    with pytest.raises(ProblemsError) as caught:
        vault(store, file).get("db")
    assert code(caught) == "PL-S020"
    assert known in caught.value.problems[0].message


def test_b41_a_variable_takes_the_place_of_the_file(store: MemoryStore, file: Path) -> None:
    given = {VARIABLE: base64.b64encode(os.urandom(32)).decode()}
    vault(store, file, **given).create("db", SECRET, "ann")
    assert not file.exists()
    assert vault(store, file, **given).get("db") == SECRET
    with pytest.raises(ProblemsError):
        vault(store, file).get("db")


def test_b41_rows_that_were_swapped_or_put_back_are_noticed(store: MemoryStore, file: Path) -> None:
    kept = vault(store, file)
    old, other = kept.create("db", SECRET, "ann"), kept.create("web", "other-secret", "ann")
    assert old is not None
    assert other is not None
    store.secrets.delete("web")
    store.secrets.put(altered(old, name="web"))
    with pytest.raises(ProblemsError) as caught:
        kept.get("web")
    assert code(caught) == "PL-S023"
    new = kept.update("db", "new-secret", "bob")
    assert new is not None
    assert (new.version, new.created_by, new.updated_by) == (2, "ann", "bob")
    store.secrets.delete("db")
    store.secrets.put(altered(new, version=1, body=old.body, key=old.key))
    assert kept.get("db") == SECRET, "an old version put back whole is what it was: the store is trusted for that"
    store.secrets.put(altered(new, body=old.body))
    with pytest.raises(ProblemsError):
        kept.get("db")


def test_b41_a_new_master_key_takes_over_and_the_old_one_is_gone(store: MemoryStore, file: Path) -> None:
    kept = vault(store, file)
    kept.create("db", SECRET, "ann")
    kept.learn(SECRET)
    sealed = kept.sealed({"password": SECRET})
    before = file.read_text()
    assert kept.rotate(store.secrets) == 2
    assert file.read_text() != before
    assert len(file.read_text().split()) == 1
    fresh = vault(store, file)
    assert fresh.get("db") == SECRET
    assert fresh.unsealed(sealed) == {"password": SECRET}
    assert [row.key.master for row in store.secrets.all()] == [id_of(base64.b64decode(file.read_text()))]


def test_b41_a_rotation_that_dies_halfway_loses_nothing(store: MemoryStore, file: Path) -> None:
    """The new key is in the file before any row needs it, and the old one while some row may."""
    kept = vault(store, file)
    kept.create("db", SECRET, "ann")
    old = file.read_text()
    keys = MasterKeys(str(file), {})
    keys.write([os.urandom(32), *keys.read()])
    assert old in file.read_text()
    assert vault(store, file).get("db") == SECRET
    kept.create("web", "other-secret", "ann")
    assert kept.rotate(store.secrets) == 2
    assert [vault(store, file).get(name) for name in ("db", "web")] == [SECRET, "other-secret"]


def test_b41_a_variable_brings_its_new_key_itself(store: MemoryStore, file: Path) -> None:
    old, new = (base64.b64encode(os.urandom(32)).decode() for _ in range(2))
    vault(store, file, **{VARIABLE: old}).create("db", SECRET, "ann")
    assert vault(store, file, **{VARIABLE: f"{new},{old}"}).rotate(store.secrets) == 1
    assert vault(store, file, **{VARIABLE: new}).get("db") == SECRET


def test_d30_what_holds_a_known_value_is_sealed_and_only_that(store: MemoryStore, file: Path) -> None:
    kept = vault(store, file)
    value = {"ip": "10.0.0.1", "urls": ["db://u:correct-horse-battery@h", "x"], "pin": 54321, "n": 3}
    assert kept.sealed(value) is value
    assert not kept.has_seals
    kept.learn(SECRET)
    kept.learn(54321)
    sealed = kept.sealed(value)
    assert SECRET not in str(sealed)
    assert veiled(sealed) == {"ip": "10.0.0.1", "urls": ["(hidden)", "x"], "pin": "(hidden)", "n": 3}
    fresh = vault(store, file)
    assert fresh.has_seals
    assert fresh.unsealed(sealed) == value
    assert fresh.masked("say correct-horse-battery") == f"say {MASK}", "what was sealed is known again"


def test_d30_a_seal_that_somebody_hands_in_is_not_opened_for_him(store: MemoryStore, file: Path) -> None:
    kept = vault(store, file)
    kept.learn(SECRET)
    stolen = kept.sealed(SECRET)
    assert str(stolen).startswith(SEAL)
    stored = kept.sealed({"mine": stolen})
    assert kept.unsealed(stored) == {"mine": stolen}


def test_d30_a_broken_seal_is_told(store: MemoryStore, file: Path) -> None:
    with pytest.raises(ProblemsError) as caught:
        vault(store, file).unsealed({"a": SEAL + "AAAA"})
    assert code(caught) == "PL-S023"
