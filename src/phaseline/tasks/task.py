"""One task on one instance: its definition, its host, its time limits, and the texts of its failures."""

from __future__ import annotations

import json
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from phaseline.calls.protocol.call import MAX_MESSAGE_CHARS, Outcome, truncate
from phaseline.model.graph.plugin_errors import NonRecoverableError, RecoverableError
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.problems.name_rules import folder_name
from phaseline.plan.preview.agent_warnings import install_method
from phaseline.tasks.folder_bundle import UNPACK, bundle_of
from phaseline.tasks.host_keys import SSH_PORT
from phaseline.tasks.local_host import Here
from phaseline.tasks.remote_shell import run
from phaseline.tasks.shell_scripts import lived, received
from phaseline.tasks.ssh_host import Address, Host

if TYPE_CHECKING:
    from asyncio import Semaphore
    from collections.abc import Mapping

    from phaseline.calls.protocol.call import InstanceContext, PluginCall
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.tasks.folder_bundle import Bundle
    from phaseline.tasks.remote_shell import CommandHost, Ended
    from phaseline.tasks.ssh_host import SshConnections

TIMEOUT_S = 300.0
"""Default time limit, in seconds, of all attempts of a task on an instance together."""
SCRIPTS = "deployment_scripts"
"""Default folder of a package's scripts; a package may name another."""
MASTER = "master"
"""Name of this machine in messages about a task that belongs to no instance."""


class Task:
    """A task on an instance: the argument with which a task runner is called."""

    def __init__(self, call: PluginCall, connections: SshConnections) -> None:
        """Prepare the task of a call. ``connections``: the SSH connections of the event loop in
        which the runner runs.
        """
        self.call = call
        self._connections = connections
        self._said = cast("Mapping[str, Value]", call.inputs.get("task") or {})
        self.parameters = cast("Mapping[str, Value]", call.inputs.get("parameters") or {})
        self.has_another = False
        """True if the task may be tried again after this attempt times out: the limit of an attempt ends before the
        limit of all attempts together.
        """

    # -- what it is called --------------------------------------------------------------------------------------

    @property
    def package(self) -> str:
        """The name and version of the task's package."""
        return f"{self._said.get('package', '')}-{self._said.get('version', '')}"

    @property
    def instance_id(self) -> str:
        """The id of the task's instance; ``master`` for a task of the whole deployment."""
        return self.call.instance.id if self.call.instance is not None else MASTER

    @property
    def name(self) -> str:
        """The task's name in messages, such as ``net-1.0.2: tasks.yaml task 1 (post_deployment/100) on web_a1b2c3``.

        The number of the task counts from 1.
        """
        index, id = int(str(self._said.get("index", 0))) + 1, self._said.get("id") or ""
        which = f"task '{id}'" if id else f"task {index}"
        stage = f" ({self._said['stage']})" if self._said.get("stage") else ""
        return f"{self.package}: {self._said.get('file') or 'tasks.yaml'} {which}{stage} on {self.instance_id}"

    def text(self, key: str) -> str:
        """Return a parameter that must be a text.

        Raises ``NonRecoverableError`` if it is no text, which is known only now if the parameter is an evaluated
        expression.
        """
        value = self.parameters.get(key)
        if not isinstance(value, str) or not value:
            raise NonRecoverableError(f"its parameter '{key}' is no text")
        return value

    def failed(self, text: str, *, retry: bool = False) -> Outcome:
        """Return the outcome of a failure; with ``retry`` the engine tries the task again, as often
        as the task allows.
        """
        kind = OutcomeKind.RETRY if retry else OutcomeKind.FAILED
        return Outcome(kind, message=truncate(f"{self.name}: {text}", MAX_MESSAGE_CHARS))

    # -- where it runs ------------------------------------------------------------------------------------------

    @cached_property
    def host(self) -> InstanceContext | None:
        """The host instance that is reached over SSH, or None if the task runs on this machine (decision 25)."""
        instance = self.call.instance
        id = None if instance is None else instance.host
        if instance is None or id is None:
            return None
        host = instance if id == instance.id else self.call.world.instance(id)
        return None if install_method(host.node.properties) == "none" else host

    @cached_property
    def place(self) -> CommandHost:
        """The host or machine on which the task's commands run.

        Raises ``NonRecoverableError`` if its address is not known.
        """
        host = self.host
        if host is None:
            return Here(str(self.call.inputs.get("work") or ""))
        return Host(self.instance_id, address_of(host), self._connections)

    @property
    def folder(self) -> str:
        """The task's work folder on the host, with the scripts of its package and the files that its commands write."""
        own = (self.call.site.deployment.id, self.instance_id, self.package)
        return "/".join((self.place.root, *map(folder_name, own)))

    @cached_property
    def bundle(self) -> Bundle | None:
        """The scripts of the task's package, or None if it has none."""
        scripts = self.call.inputs.get("scripts")
        folder = self.package_folder / str(scripts or SCRIPTS)
        return bundle_of(folder) if scripts or folder.is_dir() else None

    @property
    def package_folder(self) -> Path:
        """The folder of the task's package on this machine."""
        return Path(str(self.call.inputs.get("package_folder") or "."))

    # -- how long it may take -----------------------------------------------------------------------------------

    def left_s(self) -> float:
        """Return the time limit of this attempt in seconds, 0 for none.

        The parameter ``timeout`` limits all attempts together, from the start of the first one; ``attempt_timeout``
        limits each attempt. Raises ``NonRecoverableError`` if no time is left. After a user's retry, the time starts
        again.
        """
        now = time.time()
        data = self.call.data
        if not isinstance(data, dict) or data.get("token") != self.call.token:
            data = self.call.data = {"token": self.call.token, "since": now}
        total, each = self.total_s, self.attempt_s
        left = total - (now - float(str(data["since"]))) if total else each
        if total and left <= 0:
            raise NonRecoverableError(f"timed out after {total:g} s")
        self.has_another = 0 < each <= left
        return each if self.has_another else left

    @property
    def attempt_s(self) -> float:
        """The time limit of each attempt in seconds; 0 if only all attempts together are limited."""
        return self._seconds("attempt_timeout", 0)

    @property
    def total_s(self) -> float:
        """The time limit in seconds of all attempts together."""
        return self._seconds("timeout", TIMEOUT_S)

    def _seconds(self, key: str, default: float) -> float:
        value = self.parameters.get(key)
        return default if isinstance(value, bool) or not isinstance(value, int | float) else max(0.0, float(value))

    # -- commands -----------------------------------------------------------------------------------------------

    async def command(self, text: str) -> Ended:
        """Run a command in the folder of the package's scripts and return how it ended.

        The scripts are sent to the host first if they are not there.
        """
        async with self._room:
            if self.call.attempt:
                self.left_s()  # no line is needed to know that no time is left
            return await self._command(text)

    async def _command(self, text: str) -> Ended:
        bundle = self.bundle
        missing = f"phaseline: no scripts for {self.call.token}" if bundle is not None else ""
        script = lived(
            text,
            mark=f"{self.call.token.rpartition('-')[0]}.",
            folder=self.folder,
            sign=bundle.sign if bundle is not None else "",
            missing=missing,
            cwd=str(self.parameters.get("cwd") or ""),
            environment=self.environment(),
        )
        ended = await run(self.place, script, log=self.call.log, limit_s=self.left_s, missing=missing)
        if ended is None:
            assert bundle is not None
            await self._send(bundle.content, self.folder, UNPACK, bundle.sign)
            ended = await run(self.place, script, log=self.call.log, limit_s=self.left_s, missing=missing)
        assert ended is not None
        return ended

    async def send(self, content: bytes, folder: str, take: str) -> None:
        """Pass bytes to the command ``take`` in a folder on the host.

        Raises ``NonRecoverableError`` with the command's output if it fails.
        """
        async with self._room:
            await self._send(content, folder, take)

    @property
    def _room(self) -> Semaphore:
        return self._connections.here if self.host is None else self._connections.there

    async def _send(self, content: bytes, folder: str, take: str, sign: str = "") -> None:
        ended = await run(self.place, received(folder, take, sign), content=content, limit_s=self.left_s)
        assert ended is not None
        if ended.is_late:
            during = f"while files were sent to {self.place.name}"
            if self.has_another:
                raise RecoverableError(f"this attempt timed out after {self.attempt_s:g} s, {during}")
            raise NonRecoverableError(f"timed out after {self.total_s:g} s, {during}")
        if ended.code:
            said = "; ".join(ended.lines) or f"exit code {ended.code}"
            raise NonRecoverableError(f"files could not be written on {self.place.name}: {said}")

    def environment(self) -> dict[str, str]:
        """Return the environment variables of the task's commands."""
        instance = self.call.instance
        settings = self.call.inputs.get("settings")
        return {
            "PHASELINE_DEPLOYMENT": self.call.site.deployment.id,
            "PHASELINE_EXECUTION": self.call.site.execution.id,
            "PHASELINE_INSTANCE": instance.id if instance is not None else "",
            "PHASELINE_NODE": instance.node.name if instance is not None else "",
            "PHASELINE_PACKAGE": self.package,
            "PHASELINE_STAGE": str(self._said.get("stage") or ""),
            **({"PHASELINE_SETTINGS": json.dumps(settings)} if settings else {}),
        }


def address_of(host: InstanceContext) -> Address:
    """Return the address and login of a host.

    They come from its address and from ``agent_config``, which are looked up as Cloudify does.
    Raises ``NonRecoverableError`` if a required value is missing.
    """
    properties, runtime = host.node.properties, host.runtime_properties
    config: dict[str, Value] = {}
    for said in (properties.get("cloudify_agent"), properties.get("agent_config"), runtime.get("cloudify_agent")):
        if isinstance(said, dict):
            config.update({key: value for key, value in said.items() if value is not None and value != ""})
    ip = runtime.get("ip") or config.get("ip") or properties.get("ip")
    local = "to have its tasks run on this machine set agent_config.install_method to none"
    if not ip:
        text = f"the host {host.id} has no address: its plugin sets the runtime property ip, or its node the property ip; {local}"
        raise NonRecoverableError(text)
    if not config.get("user"):
        raise NonRecoverableError(f"agent_config of the host {host.id} names no user to log in as; {local}")
    extra = config.get("extra")
    said_of_key = extra.get("host_key") if isinstance(extra, dict) else None
    return Address(
        host=str(ip),
        user=str(config["user"]),
        port=int(str(config.get("port") or SSH_PORT)),
        key=str(config.get("key") or ""),
        password=str(config.get("password") or ""),
        host_key=str(runtime.get("host_key") or said_of_key or ""),
    )
