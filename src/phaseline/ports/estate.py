"""Port of the estate: what calls of Components may ask about deployments, executions, blueprints and secrets (CO1).

Such a call stores nothing itself. What it prepares here becomes part of a follow-up of its outcome (BB1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.rows.causes import CauseKey, entry_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.stored_blueprints import StoredBlueprint
    from phaseline.model.rows.causes import CausedRow
    from phaseline.model.rows.follow_ups import BlueprintUpload
    from phaseline.model.rows.rows import Actor, DeploymentRow, ExecutionRow, NewDeployment, NewExecution
    from phaseline.model.rows.secrets import SecretRow


@frozen
class CallEntry:
    """The entry whose call it is: number of its execution, its graph, position and generation, and the execution's user."""

    execution: int
    graph: int
    position: int
    generation: int
    actor: Actor

    @property
    def cause(self) -> CauseKey:
        """The cause of what the call makes."""
        return CauseKey("component", self.execution, entry_key(self.graph, self.position, self.generation))

    def has_made(self, cause: CauseKey) -> bool:
        """Return True if an attempt of this entry is the cause, in any generation."""
        key = cause.key.rpartition("/")[0]
        return cause.number == self.execution and key == f"{self.graph}/{self.position}"


@frozen
class InnerDeployment:
    """A deployment to be made from a stored blueprint; ``labels`` are (key, value) pairs."""

    name: str
    blueprint: str
    inputs: Mapping[str, Value]
    labels: Sequence[tuple[str, str]] = ()


@frozen
class InnerWorkflow:
    """A workflow of a deployment to be run with the parameters of the Component.

    ``inherited`` are parameters of the outer workflow: only those that this workflow declares are used.
    """

    workflow: str
    parameters: Mapping[str, Value]
    inherited: Mapping[str, Value]
    allow_custom: bool = False
    force: bool = False


class Estate(Protocol):
    """Answers calls in this process. Thread-safe. Every method that can refuse something raises ``ProblemsError``."""

    def now(self) -> int:
        """Return the time in ms."""
        ...

    def caused(self, execution: int) -> Sequence[CausedRow]:
        """Return the deployments and executions that Components in an execution have made."""
        ...

    def deployment(self, entry: CallEntry, name: str) -> DeploymentRow | None:
        """Return the deployment with exactly this name, or None."""
        ...

    def deployments(self, entry: CallEntry, numbers: Sequence[int]) -> Sequence[DeploymentRow]:
        """Return those of the deployments that are not deleted."""
        ...

    def executions(self, entry: CallEntry, numbers: Sequence[int]) -> Sequence[ExecutionRow]:
        """Return the executions with these numbers."""
        ...

    def stored_blueprint(self, entry: CallEntry, name: str) -> StoredBlueprint:
        """Return the stored blueprint ``ID`` (the newest version) or ``ID@VERSION``. Raises: PL-C054."""
        ...

    def find_blueprint(self, entry: CallEntry, name: str) -> StoredBlueprint | None:
        """Return the stored blueprint ``ID@VERSION``, or None."""
        ...

    def is_ours(self, entry: CallEntry, blueprint: StoredBlueprint) -> bool:
        """Return True if a Component has stored this version, not a user."""
        ...

    def read_blueprint(
        self, entry: CallEntry, id: str, path: str, main_file: str, folder: str
    ) -> BlueprintUpload | StoredBlueprint:
        """Read a blueprint from a folder, archive or main file inside ``folder``, or from an allowed URL.

        Return the stored version if the newest one is equal, else what is to be stored. Raises: the errors of an upload;
        PL-C113 for a path outside of ``folder``.
        """
        ...

    def prepare_deployment(self, entry: CallEntry, wanted: InnerDeployment, secrets: Sequence[str]) -> NewDeployment:
        """Check inputs and labels, and return the deployment. ``secrets`` are made in the same transaction."""
        ...

    def prepare_execution(self, entry: CallEntry, deployment: str, wanted: InnerWorkflow) -> NewExecution:
        """Check the workflow and its parameters, and return the execution with its hooks pinned."""
        ...

    def prepare_secret(self, entry: CallEntry, name: str, value: str) -> SecretRow:
        """Return an encrypted secret, whose value is masked from now on. Raises: PL-C052, PL-C053, PL-C112."""
        ...

    def has_secret(self, entry: CallEntry, name: str) -> bool:
        """Return True if there is a secret of this name."""
        ...

    def capabilities(self, entry: CallEntry, deployment: str) -> Mapping[str, Value]:
        """Return the capabilities of a deployment, evaluated in it."""
        ...

    def describe(self, entry: CallEntry, deployment: DeploymentRow) -> InnerDeployment:
        """Return a deployment as it is now, without inputs that are secret; ``blueprint`` is "" if it is not a stored one."""
        ...

    def is_installed(self, deployment: DeploymentRow) -> bool:
        """Return True if an instance of the deployment may exist."""
        ...

    def is_at_rest(self, deployment: DeploymentRow) -> bool:
        """Return True if no instance of the deployment may exist, and no execution of it is open."""
        ...

    def is_installed_whole(self, deployment: DeploymentRow) -> bool:
        """Return True if all instances of the deployment are started and it is not empty."""
        ...

    def first_failure(self, execution: ExecutionRow) -> str:
        """Return the first failure of an ended execution as text, empty if there is none."""
        ...

    def forget_files(self, entry: CallEntry) -> None:
        """Remove written files of stored blueprints that are no longer stored."""
        ...
