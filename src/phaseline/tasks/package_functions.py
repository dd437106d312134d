"""Calls a Python function of a package, as a native operation of one item."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from phaseline.calls.batches.native_items import NativeCaller
from phaseline.calls.protocol.call import PluginCall
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.graph.plugin_errors import NonRecoverableError
from phaseline.model.packages.task_inputs import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.calls.protocol.call import Outcome
    from phaseline.model.blueprint.blueprint import Value

PYTHON_FOLDER = "python"
"""Default folder of a package's Python code; a package may name others."""


class _Own(PluginCall):
    """The call as the package's function sees it: it has only the inputs that the task declares."""

    __slots__ = ("given", "told")

    given: dict[str, Value]
    told: Mapping[str, Value]

    @property
    def inputs(self) -> dict[str, Value]:
        """The inputs that the task declares for the function."""
        return self.given

    @property
    def settings(self) -> Mapping[str, Value]:
        """The deployment's settings for the package."""
        return self.told


def call_own(call: PluginCall) -> Outcome:
    """Import the task's ``module:function`` from the folder of its package, call it and return its outcome."""
    parameters = cast("Mapping[str, Value]", call.inputs.get("parameters") or {})
    name, inputs = parameters.get("function"), parameters.get("inputs") or {}
    if not isinstance(name, str) or name.count(":") != 1 or not isinstance(inputs, dict):
        raise NonRecoverableError("the parameter 'function' of a python task is module:function, 'inputs' a mapping")
    folder = str(call.inputs.get("package_folder") or "")
    # First as the package was when the execution was made, whatever the deployment finds elsewhere by now.
    folders = (folder, f"{folder}/{PYTHON_FOLDER}", *call.site.deployment.code.plugin_folders)
    deployment = altered(call.site.deployment, code=CodeLocation(folder, folders))
    site = altered(call.site, implementation=name.replace(":", "."), deployment=deployment)
    own = _Own(
        site, call.member, call.attempt, call.channel, call.world, call.instance, call.source, call.target, call.data
    )
    own.given = inputs
    own.told = cast("Mapping[str, Value]", call.inputs.get(SETTINGS) or {})
    outcome = NativeCaller().call(own)
    call.data = own.data
    return outcome
