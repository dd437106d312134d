"""Checks the keys of SSH hosts: against a file of known hosts, against the blueprint, or accepted on first use."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from asyncssh import SSHKey, SSHKnownHosts

Policy = Literal["known", "accept_new", "any"]
"""Which host keys are accepted.

``known``: only keys in the file of known hosts. ``accept_new``: also the key of a host without a known key, which is
then added to the file. ``any``: all keys.
"""
SSH_PORT = 22


@frozen
class HostKeys:
    """The rules by which host keys are checked; ``file`` is a file of known hosts in OpenSSH format."""

    policy: Policy = "known"
    file: str = "~/.ssh/known_hosts"

    @property
    def path(self) -> Path:
        """The path of the file of known hosts."""
        return Path(self.file).expanduser()


class KeyCheck:
    """Checks the key of one host for asyncssh. ``refusal`` is the reason if the key is refused."""

    def __init__(self, rules: HostKeys, host: str, port: int, said: str = "") -> None:
        """Prepare the check.

        ``said``: the host's public key from the blueprint or the provider; if given, no other key is accepted.
        """
        import asyncssh

        self._rules, self._host, self._port, self._said = rules, host, port, said
        self.refusal = ""
        self.known: SSHKnownHosts = asyncssh.import_known_hosts(f"{self._pattern} {said}\n" if said else self._text())
        self.is_known = bool(self.known.match(host, "", port)[0])

    @property
    def _pattern(self) -> str:
        return self._host if self._port == SSH_PORT else f"[{self._host}]:{self._port}"

    def accepts(self, key: SSHKey) -> bool:
        """Return True if this key, which is not known for the host, is accepted; otherwise set ``refusal``."""
        shown = f"{key.get_algorithm()} {key.get_fingerprint()}"
        if self._said:
            self.refusal = f"its host key is {shown}, not the one that its host_key names"
        elif self.is_known:
            self.refusal = (
                f"its host key {shown} differs from the one in {self._rules.path}: the connection may be intercepted; if the "
                f"machine was reinstalled, remove the old key: ssh-keygen -R '{self._pattern}' -f {self._rules.path}"
            )
        elif self._rules.policy == "accept_new":
            self._add(key)
            return True
        else:
            self.refusal = (
                f"its host key {shown} is not known: check it and add it to {self._rules.path} (ssh-keyscan -p {self._port} "
                f"{self._host} prints it), name it as host_key in agent_config.extra, or set ssh.host_keys to accept_new"
            )
        return False

    def _text(self) -> str:
        try:
            return self._rules.path.read_text("utf-8", "replace")
        except FileNotFoundError:
            return ""

    def _add(self, key: SSHKey) -> None:
        path = self._rules.path
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        line = f"{self._pattern} {key.export_public_key('openssh').decode().strip()}\n"
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line.encode())  # one write: two engines that add at once do not mix their lines
        finally:
            os.close(file)
