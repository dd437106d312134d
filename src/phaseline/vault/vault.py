"""The vault: keeps secrets in a store, gives them to calls, and sees to it that what is written shows none of them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import problem_error
from phaseline.vault import envelope
from phaseline.vault.known_secrets import KnownValues, leaves
from phaseline.vault.master_keys import id_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.model.rows.secrets import SecretRow, SecretShelf, WrappedKey
    from phaseline.ports.clock import Clock
    from phaseline.vault.master_keys import MasterKeys

SEALING = "seals"
"""The purpose of the data key that seals values."""


class Vault:
    """``ports.secrets.SecretSource`` over a store. Nothing is read, and no key is made, before the first secret is used."""

    def __init__(self, shelf: SecretShelf, identity: str, keys: MasterKeys, clock: Clock) -> None:
        """``identity`` of the store: what is encrypted for one cannot be read in another."""
        self._shelf = shelf
        self._identity = identity
        self._keys = keys
        self._clock = clock
        self._sealing: bytes | None = None
        self._seals_seen = False
        self._read: dict[str, tuple[SecretRow, str]] = {}
        self._lock = threading.Lock()
        self.known = KnownValues()

    # -- what calls need ----------------------------------------------------------------------------------------

    def get(self, name: str) -> str:
        """The secret's text, masked from now on. ``KeyError`` if there is none.

        The row is read each time, because another process may have changed it; it is decrypted once.
        """
        row = self._shelf.find(name)
        if row is None:
            raise KeyError(name)
        known = self._read.get(name)
        if known is not None and known[0] == row:
            return known[1]
        text = self._opened(row)
        self.known.learn(text)
        self._read[name] = row, text
        return text

    def missing(self, names: Collection[str]) -> Sequence[str]:
        """Those of the names that no secret has, sorted."""
        return sorted(set(names) - {row.name for row in self._shelf.all()}) if names else ()

    # -- what is written ----------------------------------------------------------------------------------------

    def learn(self, value: Value) -> None:
        """Have nothing within the value written in clear from now on."""
        self.known.learn(value)

    def masked(self, text: str) -> str:
        """The text without the values that are known."""
        return self.known.masked(text)

    def knows(self, text: str) -> bool:
        """True if the text contains a known value as a whole."""
        return self.known.holds(text)

    def holds(self, value: Value) -> bool:
        """Whether a text or number is, or a text contains, a known value."""
        return bool(self._within(value))

    def sealed(self, value: Value) -> Value:
        """The value as it is stored: whatever holds a known value is encrypted."""
        from phaseline.vault.sealed_values import sealed

        return sealed(value, self._within, self._sealing_key, self._stands_for(SEALING))

    def seal(self, value: Value) -> Value:
        """A value that is a secret as a whole, encrypted; it is known from now on."""
        self.known.learn(value)
        from phaseline.vault.sealed_values import seal

        return seal(value, [*leaves(value)], self._sealing_key(), self._stands_for(SEALING))

    def unsealed(self, value: Value) -> Value:
        """The value as calls see it. What was sealed is known from now on. Raises: PL-S020, PL-S023."""
        from phaseline.vault.sealed_values import unsealed

        try:
            return unsealed(value, self._sealing_key, self._stands_for(SEALING), self.known.learn)
        except envelope.CannotOpen as error:
            raise self._damaged("a sealed value") from error

    @property
    def has_seals(self) -> bool:
        """Whether anything in the store may be sealed."""
        if not self._seals_seen and SEALING in self._shelf.data_keys():
            self._seals_seen = True
        return self._seals_seen

    @property
    def guards(self) -> bool:
        """False while there is nothing to mask, and no text could be a stored seal."""
        return bool(self.known) or self._seals_seen

    def _within(self, value: object) -> list[str]:
        if isinstance(value, str):
            return self.known.within(value)
        return [str(value)] if self.known.is_number(value) else []

    # -- keeping them -------------------------------------------------------------------------------------------

    @property
    def key_place(self) -> str:
        """Where the master key is, for a user to read."""
        return self._keys.place

    def create(self, name: str, text: str, user: str) -> SecretRow | None:
        """The new secret; None if there is one of this name."""
        return self._put(None, name, text, user)

    def update(self, name: str, text: str, user: str) -> SecretRow | None:
        """The secret with a new text; None if there is none, or another process has just changed it."""
        row = self._shelf.find(name)
        return None if row is None else self._put(row, name, text, user)

    def _put(self, before: SecretRow | None, name: str, text: str, user: str) -> SecretRow | None:
        from phaseline.model.rows.secrets import SecretRow

        now = self._clock.now()
        version = 1 if before is None else before.version + 1
        with self._keys.alone():
            data_key = envelope.new_key()
            row = SecretRow(
                name=name,
                version=version,
                body=envelope.encrypt(text.encode(), data_key, self._stands_for("secret", name, str(version))),
                key=self._wrapped("secret", name, data_key),
                created_at=now if before is None else before.created_at,
                created_by=user if before is None else before.created_by,
                updated_at=now,
                updated_by=user,
            )
            return row if self._shelf.put(row) else None

    def rotate(self) -> int:
        """Wrap all data keys with a new master key; how many. A variable's first key is the new one: it cannot be made here.

        The new key is on the disk before anything needs it, the old ones go when nothing needs them any more.
        """
        with self._keys.alone():
            if self._keys.are_in_file:
                self._keys.write([envelope.new_key(), *self._keys.read()])
            newest = self._keys.newest()
            count = self._shelf.rewrap(self._rewrapped)
            if self._keys.are_in_file:
                self._keys.write([newest])
            return count

    def try_keys(self) -> int:
        """Decrypt every data key, and return their number. Raises: PL-S020 to PL-S023."""
        keys = [("secret", row.name, row.key) for row in self._shelf.all()]
        keys += [("purpose", purpose, key) for purpose, key in self._shelf.data_keys().items()]
        for kind, name, key in keys:
            try:
                self._unwrapped(kind, name, key)
            except envelope.CannotOpen as error:
                raise self._damaged(f"the key of '{name}'") from error
        return len(keys)

    def _rewrapped(self, kind: str, name: str, key: WrappedKey) -> WrappedKey:
        try:
            return self._wrapped(kind, name, self._unwrapped(kind, name, key))
        except envelope.CannotOpen as error:
            raise self._damaged(f"the key of '{name}'") from error

    # -- keys ---------------------------------------------------------------------------------------------------

    def _opened(self, row: SecretRow) -> str:
        try:
            clear = envelope.decrypt(
                row.body,
                self._unwrapped("secret", row.name, row.key),
                self._stands_for("secret", row.name, str(row.version)),
            )
        except envelope.CannotOpen as error:
            raise self._damaged(f"the secret '{row.name}'") from error
        return clear.decode()

    def _sealing_key(self) -> bytes:
        """The data key of all seals, made when the first value is sealed."""
        with self._lock:
            if self._sealing is None:
                present = self._shelf.data_keys().get(SEALING)
                if present is None:
                    with self._keys.alone():
                        present = self._shelf.add_key(SEALING, self._wrapped("purpose", SEALING, envelope.new_key()))
                try:
                    self._sealing = self._unwrapped("purpose", SEALING, present)
                except envelope.CannotOpen as error:
                    raise self._damaged("the key of sealed values") from error
                self._seals_seen = True
            return self._sealing

    def _wrapped(self, kind: str, name: str, data_key: bytes) -> WrappedKey:
        master = self._keys.newest()
        from phaseline.model.rows.secrets import WrappedKey

        return WrappedKey(envelope.encrypt(data_key, master, self._stands_for("key", kind, name)), id_of(master))

    def _unwrapped(self, kind: str, name: str, key: WrappedKey) -> bytes:
        master = self._keys.find(key.master)
        if master is None:
            message = f"the master key {key.master}, which secrets of this store were stored with, is not in {self._keys.place}"
            mend = "put that key back, or name its file with the setting secrets.key_file; without that key they are unreadable"
            raise problem_error("PL-S020", message, mend)
        return envelope.decrypt(key.wrapped, master, self._stands_for("key", kind, name))

    def _stands_for(self, *parts: str) -> str:
        return "\0".join(("phaseline", self._identity, *parts))

    def _damaged(self, what: str) -> ProblemsError:
        mend = "the store was changed from outside: take it from a backup, or delete the secret and create it again"
        return problem_error("PL-S023", f"{what} cannot be opened: it is not what was encrypted", mend)
