"""The port of secrets and its implementations."""

from __future__ import annotations

import pytest
from tests.ports.signatures import differences

from phaseline.calls.protocol.no_secrets import NoSecrets
from phaseline.ports.secrets import SecretSource
from phaseline.vault.vault import Vault


@pytest.mark.parametrize("kind", [NoSecrets, Vault])
def test_every_source_of_secrets_takes_the_arguments_of_its_port(kind: type) -> None:
    assert differences(SecretSource, kind) == []
