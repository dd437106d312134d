"""The vault: stores secrets, supplies them to calls, and ensures that nothing written shows them."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.rows import DEFAULT_TENANT
from phaseline.vault import envelope
from phaseline.vault.known_secrets import KnownValues, leaves
from phaseline.vault.master_keys import id_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.model.rows.secrets import AllSecrets, SecretRow, SecretShelf, WrappedKey
    from phaseline.ports.clock import Clock
    from phaseline.vault.master_keys import MasterKeys

SEALING = "seals"
"""Purpose of the data key that encrypts sealed values."""


class Vault:
    """The ``ports.secrets.SecretSource`` of a tenant.

    Nothing is read and no key is made before the first secret is used. Values that must be masked, and the key of
    sealed values, are common to all tenants.
    """

    def __init__(
        self,
        shelf_of: Callable[[str], SecretShelf],
        identity: str,
        keys: MasterKeys,
        clock: Clock,
        *,
        tenant: str = DEFAULT_TENANT,
        first: Vault | None = None,
    ) -> None:
        """``shelf_of`` returns the stored secrets of a tenant. ``first``: the vault of another tenant in this process.

        ``identity``: the store's random name; secrets encrypted for one store cannot be decrypted in another.
        """
        self._shelf_of = shelf_of
        self._tenant = tenant
        self._identity = identity
        self._keys = keys
        self._clock = clock
        self._sealing: bytes | None = None
        self._seals_seen = False
        self._read: dict[str, tuple[SecretRow, str]] = {}
        self._lock = threading.Lock()
        self.known: KnownValues = KnownValues() if first is None else first.known
        self._first = first or self
        self._others: dict[str, Vault] = {tenant: self}

    def of_tenant(self, tenant: str) -> Vault:
        """Return the vault of a tenant."""
        if self._first is not self:
            return self._first.of_tenant(tenant)
        found = self._others.get(tenant)
        if found is None:
            found = Vault(self._shelf_of, self._identity, self._keys, self._clock, tenant=tenant, first=self)
            self._others[tenant] = found
        return found

    @cached_property
    def _shelf(self) -> SecretShelf:
        """The stored secrets of the tenant, which few commands need."""
        return self._shelf_of(self._tenant)

    # -- what calls need ----------------------------------------------------------------------------------------

    def get(self, name: str) -> str:
        """Return the text of a secret and mask it from now on. Raises ``KeyError`` if no secret has this name.

        The row is read at each call, because another process may have changed it. Decryption is done once for each
        version.
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
        """Return those of the names for which no secret exists, sorted."""
        return sorted(set(names) - {row.name for row in self._shelf.all()}) if names else ()

    # -- what is written ----------------------------------------------------------------------------------------

    def learn(self, value: Value) -> None:
        """Mask every text and number within the value from now on."""
        self.known.learn(value)

    def masked(self, text: str) -> str:
        """Return the text with all known values masked."""
        return self.known.masked(text)

    def knows(self, text: str) -> bool:
        """Return True if the text contains a whole known value."""
        return self.known.holds(text)

    def holds(self, value: Value) -> bool:
        """Return True if ``value`` is a known number, or a text that contains a whole known value."""
        return bool(self._within(value))

    def sealed(self, value: Value) -> Value:
        """Return the value as the store keeps it: parts that contain a known value are encrypted."""
        from phaseline.vault.sealed_values import sealed

        return sealed(value, self._within, self._sealing_key, self._stands_for(SEALING))

    def seal(self, value: Value) -> Value:
        """Encrypt a value that is secret as a whole, and mask it from now on."""
        self.known.learn(value)
        from phaseline.vault.sealed_values import seal

        return seal(value, [*leaves(value)], self._sealing_key(), self._stands_for(SEALING))

    def unsealed(self, value: Value) -> Value:
        """Return the value with its seals decrypted, and mask their secrets from now on. Raises: PL-S020, PL-S023."""
        from phaseline.vault.sealed_values import unsealed

        try:
            return unsealed(value, self._sealing_key, self._stands_for(SEALING), self.known.learn)
        except envelope.CannotOpen as error:
            raise self._damaged("a sealed value") from error

    @property
    def has_seals(self) -> bool:
        """Return True if any value in the store may be sealed."""
        return self._seals_seen or self.sees_seals(self._shelf.data_keys().keys())

    def sees_seals(self, purposes: Collection[str]) -> bool:
        """Return ``has_seals``. ``purposes``: those of the data keys that are stored now."""
        self._seals_seen |= SEALING in purposes
        return self._seals_seen

    @property
    def guards(self) -> bool:
        """False while no value is known and the store has no seals, so that everything may be written unchanged."""
        return bool(self.known) or self._seals_seen

    def _within(self, value: object) -> list[str]:
        if isinstance(value, str):
            return self.known.within(value)
        return [str(value)] if self.known.is_number(value) else []

    # -- keeping them -------------------------------------------------------------------------------------------

    @property
    def key_place(self) -> str:
        """Return a text for the user about where the master key is."""
        return self._keys.place

    def create(self, name: str, text: str, user: str) -> SecretRow | None:
        """Store a new secret and return its row; None if a secret of this name exists."""
        return self._put(None, name, text, user)

    def update(self, name: str, text: str, user: str) -> SecretRow | None:
        """Replace the text of a secret and return its row.

        Return None if the secret does not exist or was changed at the same time.
        """
        row = self._shelf.find(name)
        return None if row is None else self._put(row, name, text, user)

    def _put(self, before: SecretRow | None, name: str, text: str, user: str) -> SecretRow | None:
        with self._keys.alone():
            row = self._row(before, name, text, user)
            return row if self._shelf.put(row) else None

    def prepared(self, name: str, text: str, user: str) -> SecretRow:
        """Return the row of a new secret, which the caller stores, and mask the text from now on.

        If the master key is replaced before it is stored, it cannot be read.
        """
        self.known.learn(text)
        with self._keys.alone():
            return self._row(None, name, text, user)

    def _row(self, before: SecretRow | None, name: str, text: str, user: str) -> SecretRow:
        from phaseline.model.rows.secrets import SecretRow

        now = self._clock.now()
        version = 1 if before is None else before.version + 1
        data_key = envelope.new_key()
        return SecretRow(
            name=name,
            version=version,
            body=envelope.encrypt(
                text.encode(), data_key, self._stands_for(*_of(self._tenant, "secret"), name, str(version))
            ),
            key=self._wrapped(self._tenant, "secret", name, data_key),
            created_at=now if before is None else before.created_at,
            created_by=user if before is None else before.created_by,
            updated_at=now,
            updated_by=user,
        )

    def rotate(self, secrets: AllSecrets) -> int:
        """Re-encrypt all data keys of the store with a new master key; return their number.

        If the keys are in a file, a new one is made and written first, and old ones are removed last. If they are in
        the environment variable, its first key is the new one, which the user must have put there.
        """
        with self._keys.alone():
            if self._keys.are_in_file:
                self._keys.write([envelope.new_key(), *self._keys.read()])
            newest = self._keys.newest()
            count = secrets.rewrap(self._rewrapped)
            if self._keys.are_in_file:
                self._keys.write([newest])
            return count

    def try_keys(self) -> int:
        """Decrypt every data key to test the master keys; return how many data keys there are. Raises: PL-S020 to PL-S023."""
        keys = [("secret", row.name, row.key) for row in self._shelf.all()]
        keys += [("purpose", purpose, key) for purpose, key in self._shelf.data_keys().items()]
        for kind, name, key in keys:
            try:
                self._unwrapped(self._tenant, kind, name, key)
            except envelope.CannotOpen as error:
                raise self._damaged(f"the key of '{name}'") from error
        return len(keys)

    def _rewrapped(self, tenant: str, kind: str, name: str, key: WrappedKey) -> WrappedKey:
        try:
            return self._wrapped(tenant, kind, name, self._unwrapped(tenant, kind, name, key))
        except envelope.CannotOpen as error:
            raise self._damaged(f"the key of '{name}'") from error

    # -- keys ---------------------------------------------------------------------------------------------------

    def _opened(self, row: SecretRow) -> str:
        try:
            clear = envelope.decrypt(
                row.body,
                self._unwrapped(self._tenant, "secret", row.name, row.key),
                self._stands_for(*_of(self._tenant, "secret"), row.name, str(row.version)),
            )
        except envelope.CannotOpen as error:
            raise self._damaged(f"the secret '{row.name}'") from error
        return clear.decode()

    def _sealing_key(self) -> bytes:
        """Return the data key of all sealed values. It is made when the first value is sealed."""
        with self._lock:
            if self._sealing is None:
                present = self._shelf.data_keys().get(SEALING)
                if present is None:
                    with self._keys.alone():
                        present = self._shelf.add_key(
                            SEALING, self._wrapped("", "purpose", SEALING, envelope.new_key())
                        )
                try:
                    self._sealing = self._unwrapped("", "purpose", SEALING, present)
                except envelope.CannotOpen as error:
                    raise self._damaged("the key of sealed values") from error
                self._seals_seen = True
            return self._sealing

    def _wrapped(self, tenant: str, kind: str, name: str, data_key: bytes) -> WrappedKey:
        master = self._keys.newest()
        from phaseline.model.rows.secrets import WrappedKey

        return WrappedKey(
            envelope.encrypt(data_key, master, self._stands_for("key", *_of(tenant, kind), name)), id_of(master)
        )

    def _unwrapped(self, tenant: str, kind: str, name: str, key: WrappedKey) -> bytes:
        master = self._keys.find(key.master)
        if master is None:
            message = f"the master key {key.master}, which secrets of this store were stored with, is not in {self._keys.place}"
            mend = "put that key back, or name its file with the setting secrets.key_file; without that key they are unreadable"
            raise problem_error("PL-S020", message, mend)
        return envelope.decrypt(key.wrapped, master, self._stands_for("key", *_of(tenant, kind), name))

    def _stands_for(self, *parts: str) -> str:
        return "\0".join(("phaseline", self._identity, *parts))

    def _damaged(self, what: str) -> ProblemsError:
        mend = "the store was changed from outside: take it from a backup, or delete the secret and create it again"
        return problem_error("PL-S023", f"{what} cannot be opened: it is not what was encrypted", mend)


def _of(tenant: str, kind: str) -> tuple[str, ...]:
    """Return what binds a ciphertext to a tenant and a kind, so that rows of two tenants cannot be swapped.

    The default tenant's are not marked, because older versions stored them.
    """
    return (kind,) if kind != "secret" or tenant == DEFAULT_TENANT else ("tenant", tenant, kind)
