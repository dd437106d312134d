"""What an outcome of a call makes besides: a deployment, labels, secrets and executions, all in the outcome's turn (BB1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.model.blueprint.labels import Relabelled
    from phaseline.model.blueprint.stored_blueprints import StoredBlueprint, StoredFile
    from phaseline.model.rows.causes import CauseKey
    from phaseline.model.rows.dependencies import Dependency
    from phaseline.model.rows.rows import NewDeployment, NewExecution
    from phaseline.model.rows.secrets import SecretRow


@frozen
class BlueprintUpload:
    """All files of a blueprint, to be stored as the next version of its id unless the newest version is equal.

    ``contents`` is {digest: bytes} of all files. ``imports`` are numbers of the stored blueprints that it imports.
    """

    blueprint: StoredBlueprint
    files: Sequence[StoredFile]
    contents: Mapping[str, bytes]
    imports: Sequence[int]
    cause: CauseKey


@frozen
class Continuation:
    """An ended execution that failed or was canceled and is continued, as after a user's retry; ``clean``: from the start."""

    execution: int
    clean: bool = False


@frozen
class FollowUp:
    """What one entry makes with its outcome. It is stored as a whole, in one transaction with the outcome, or not at all.

    If something of it cannot be made (a name is taken, the new executions would wait for each other), nothing is made,
    and the entry fails with the reason. What has a cause that is stored already is not made again, and is awaited like
    a new one.
    """

    deployment: NewDeployment | None = None
    is_numbered: bool = False
    """True if the name of the deployment gets the smallest free number, as in ``db-0``: several entries may want one name."""
    labels: tuple[tuple[int, Relabelled], ...] = ()
    """(number of an existing deployment, change of its labels)."""
    secrets: tuple[SecretRow, ...] = ()
    """Encrypted secrets; a secret of the same name must not exist."""
    executions: tuple[NewExecution, ...] = ()
    awaits: tuple[int, ...] = ()
    """Numbers of existing executions: the entry is called again when one of them, or of the new ones, has ended."""
    is_awaiting: bool = True
    """False if the entry does not wait for the new executions."""
    blueprint: BlueprintUpload | None = None
    retries: tuple[Continuation, ...] = ()
    """Ended executions that are continued; the entry waits for them."""
    deletes: tuple[int, ...] = ()
    """Numbers of deployments to be deleted, without open executions."""
    deletes_blueprints: tuple[int, ...] = ()
    """Numbers of stored blueprints to be deleted, after the deployments and unless something else uses them."""
    deletes_secrets: tuple[str, ...] = ()
    """Names of secrets to be deleted, if they are there."""
    needs: tuple[Dependency, ...] = ()
    """What the deployment of the entry needs from now on. A record without a provider is about the new deployment."""
    needs_no_more: tuple[str, ...] = ()
    """Ids of instances of the entry's deployment that need no other deployment any longer."""

    def __bool__(self) -> bool:
        """Return True if there is anything to make, to delete or to wait for."""
        made = self.deployment or self.labels or self.secrets or self.executions or self.blueprint
        gone = self.deletes or self.deletes_blueprints or self.deletes_secrets
        return bool(made or gone or self.awaits or self.retries or self.needs or self.needs_no_more)
