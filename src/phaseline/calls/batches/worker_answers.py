"""Answers to the questions that a call in a worker process asks about its deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from phaseline.calls.batches.local_channel import COMMIT_S
from phaseline.calls.protocol.call_codec import read_changes, write_instance, write_node, write_relationship

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from threading import Event

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.calls.protocol.call import InstanceContext, PluginCall
    from phaseline.calls.protocol.call_codec import Changes
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.runtime_properties import PropertyPath
    from phaseline.model.rows.rows import DocumentChange


class Answers:
    """The engine's answers to the ``DeploymentLookup`` of one call in a worker."""

    def __init__(
        self, deployment: LoadedDeployment, call: PluginCall, note: Callable[[Sequence[DocumentChange]], Event]
    ) -> None:
        """``note`` posts changes that a call saves before its end, and returns an event that is set on commit."""
        self._deployment = deployment
        self._call = call
        self._note = note

    def answer(self, name: str, arguments: list[Any]) -> Any:
        """Return the engine's answer to a worker that calls the method ``name`` of ``DeploymentLookup``.

        Raises: ``KeyError`` (unknown name), ``ProblemsError`` (functions that cannot be evaluated, refused changes).
        """
        deployment = self._deployment
        match name:
            case "instance":
                return write_instance(deployment.instance(arguments[0]))
            case "instances_of":
                return list(deployment.instances_of(arguments[0]))
            case "node":
                return write_node(deployment.node(self._view(arguments)))
            case "document":
                return dict(deployment.document(self._view(arguments)))
            case "relationships":
                return [write_relationship(view) for view in deployment.relationships(self._view(arguments))]
            case "host":
                return deployment.host(self._view(arguments))
            case "state":
                return deployment.state(self._view(arguments))
            case "system_properties":
                return dict(deployment.system_properties(self._view(arguments)))
            case "evaluate":
                return deployment.evaluate(arguments[0], self._call)
            case "secret":
                return deployment.secret(arguments[0])
            case "save":
                changes = self.apply(arguments[0])
                stored = self._note(changes)
                if changes and arguments[1]:
                    stored.wait(COMMIT_S)
                return None
            case "save_unless_stale":
                found = self._deployment.apply_unless_stale(self._own(arguments[0]), arguments[1])
                if found:
                    self._note(found)
                return found is not None
            case "tell":
                message, self._call.data = arguments
                self._call.tell(message)
                return None
            case _:
                raise KeyError(name)

    def apply(self, changes: Changes) -> list[DocumentChange]:
        """Apply changes of runtime properties in memory, and return the rows that store them.

        Only the call's subjects may be changed. Raises: PL-O005 for a name that contains a secret; then nothing is
        changed.
        """
        return [self._deployment.apply(*change) for change in self._own(changes)]

    def _own(self, changes: Changes) -> list[tuple[int, dict[PropertyPath, Value], tuple[PropertyPath, ...]]]:
        own = {view.number for view in self._call.subjects}
        found = [change for change in read_changes(changes) if change[0] in own]
        for _, written, _ in found:
            self._deployment.refuse_secret_names(written)
        return found

    def _view(self, arguments: list[Any]) -> InstanceContext:
        number = arguments[0]
        if not isinstance(number, int) or not 0 <= number < len(self._deployment.topology):
            raise KeyError(number)
        return self._deployment.instance_view(number)
