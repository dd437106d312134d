"""Removing secrets from everything that a turn writes: texts are masked, values are encrypted (decision 30).

All writes pass through this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import problem_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.runtime_properties import PropertyPath
    from phaseline.model.health.checks import NewCheckResults
    from phaseline.model.rows.rows import DocumentChange, EntryRemark, PlannerWrites, TurnPayload
    from phaseline.ports.secrets import SecretSource

T = TypeVar("T")


def protected(payload: TurnPayload, secrets: SecretSource) -> TurnPayload:
    """Return the payload with all secrets masked or encrypted, so that it may be stored and shown."""
    return altered(
        payload,
        documents=tuple(_document(change, secrets) for change in payload.documents),
        remarks=tuple(_remark(remark, secrets) for remark in payload.remarks),
        logs=tuple(_masked(line, "text", line.text, secrets) for line in payload.logs),
        events=tuple(_masked(event, "message", event.message, secrets) for event in payload.events),
        checks=tuple(_checks(made, secrets) for made in payload.checks),
        written=_written(payload.written, secrets),
    )


def _document(change: DocumentChange, secrets: SecretSource) -> DocumentChange:
    written = {path: secrets.sealed(value) for path, value in change.written.items()}
    return altered(change, written=written)


def _remark(remark: EntryRemark, secrets: SecretSource) -> EntryRemark:
    """Mask secrets in the message and error to be stored with an entry; encrypt them in data for its next call."""
    return altered(
        remark,
        message=secrets.masked(remark.message),
        error={name: secrets.masked(text) for name, text in remark.error.items()},
        result=secrets.sealed(remark.result),
    )


def _checks(made: NewCheckResults, secrets: SecretSource) -> NewCheckResults:
    """Mask secrets in messages of checks, and encrypt them in returned values."""
    said = made.bodies.items()
    bodies = {who: secrets.masked(body) if isinstance(body, str) else secrets.sealed(body) for who, body in said}
    return altered(made, bodies=bodies)


def _written(written: PlannerWrites, secrets: SecretSource) -> PlannerWrites:
    """Encrypt the secrets of instances in stored documents; all other values come from the store unchanged."""
    if not written.kept:
        return written
    bodies = [{**one.body, "resources": secrets.sealed(one.body["resources"])} for one in written.kept]
    kept = tuple(altered(one, body=body) for one, body in zip(written.kept, bodies, strict=True))
    return altered(written, kept=kept)


def _masked(row: T, name: str, text: str, secrets: SecretSource) -> T:
    """Return the row with ``text`` masked; the row itself if there is nothing to mask, which is the common case."""
    shown = secrets.masked(text)
    return row if shown is text else altered(row, **{name: shown})


def raise_if_secret_names(written: Mapping[PropertyPath, Value], secrets: SecretSource) -> None:
    """Raise PL-O005 if the name of a property contains a secret: names cannot be encrypted."""
    if secrets.guards and any(secrets.knows(step) for path in written for step in path):
        message = "the name of a runtime property holds a secret, and names are stored in clear"
        raise problem_error(
            "PL-O005", message, "have the operation put the secret into the property's value: that is sealed"
        )
