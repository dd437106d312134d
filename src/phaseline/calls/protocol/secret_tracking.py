"""Tracking secrets in evaluations: a value computed from a secret or a hidden input is a secret too (decision 30).

Secrets are known as soon as they are read. This module finds the values that functions derive from them, such as a
part of a secret, or a secret in capitals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from phaseline.dsl.functions.evaluation import evaluate
from phaseline.dsl.functions.registry import FUNCTIONS
from phaseline.lang.fast_dataclasses import altered

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from phaseline.dsl.functions.plan_and_runtime_scopes import RuntimeScope
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.ports.secrets import SecretSource


class Watch(Mapping[str, "Value"]):
    """The inputs and secrets that one evaluation may read. ``is_touched`` is True once the evaluation has read a
    secret.
    """

    def __init__(self, inputs: Mapping[str, Value], hidden: Collection[str], secrets: SecretSource) -> None:
        """``hidden`` has the names of inputs that are secrets."""
        self._inputs = inputs
        self._hidden = hidden
        self._secrets = secrets
        self.is_touched = False

    def __getitem__(self, name: str) -> Value:
        """Return the value of an input. Reading a hidden input sets ``is_touched``."""
        if name in self._hidden:
            self.is_touched = True
        return self._inputs[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the inputs."""
        return iter(self._inputs)

    def __len__(self) -> int:
        """Return the number of inputs."""
        return len(self._inputs)

    def secret(self, name: str) -> str:
        """Return the text of a secret. Raises ``KeyError`` if there is none."""
        self.is_touched = True
        return self._secrets.get(name)

    def evaluate(self, value: Value, scope: RuntimeScope) -> Value:
        """Return the value with its functions evaluated. Values derived from secrets count as secrets from now on.

        A text that contains a secret literally does not: the secret is masked in it, and the rest may be read.
        """
        return evaluate(value, self.over(scope))

    def over(self, scope: RuntimeScope) -> RuntimeScope:
        """Return a copy of the scope whose functions read inputs and secrets through this object.

        So this object notices for each function whether it read a secret (``begin``, ``end``).
        """
        secrets = WatchedSecrets(self, self._secrets)
        return altered(scope, inputs=self, facts=altered(scope.facts, secrets=secrets), watcher=self)

    def touch(self) -> None:
        """Note that a secret was read, such as one from which a capability of another deployment was computed."""
        self.is_touched = True

    def begin(self) -> bool:
        """Reset ``is_touched`` before a function is evaluated; return its former value for ``end``.

        It is True if a secret was read.
        """
        before, self.is_touched = self.is_touched, False
        return before

    def end(self, before: bool, name: str, result: Value) -> None:  # noqa: FBT001 - handed back as it came
        """Treat the result of a function, just evaluated, as a secret if the function has read a secret.

        Of structures, only lists of texts and results of plugins' functions count. ``before`` is what ``begin``
        returned.
        """
        if self.is_touched and (
            _is_of_texts(result)
            or (isinstance(result, str) and not self._secrets.knows(result))
            or (name not in FUNCTIONS and isinstance(result, dict | list))
        ):
            self._secrets.learn(result)
        self.is_touched |= before


class WatchedSecrets:
    """The source of secrets for functions in a tracked evaluation: it reports each secret that is read."""

    def __init__(self, watch: Watch, secrets: SecretSource) -> None:
        """``watch`` is marked as touched when a secret is read."""
        self._watch = watch
        self._secrets = secrets

    def get(self, name: str) -> str:
        """Return the text of a secret."""
        return self._watch.secret(name)

    def missing(self, names: Collection[str]) -> Sequence[str]:
        """Return the names for which no secret exists."""
        return self._secrets.missing(names)


def _is_of_texts(value: Value) -> bool:
    """Return True if the value is a list of texts, such as the result of ``string_split``."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
