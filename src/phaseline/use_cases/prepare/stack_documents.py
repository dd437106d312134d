"""Export, read and list stack documents, each of which describes a whole deployment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phaseline.calls.deployments import stack_export
from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.deployment.sealed_values import CANNOT_OPEN
from phaseline.model.deployment.stack_documents import ABANDONED, ABANDONED_KEPT_MS
from phaseline.model.execution import lifecycle_actions
from phaseline.model.problems.name_rules import are_names, shown_name, why_no_name
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.plan.topology import stack_document
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.prepare import stack_files

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.stack_documents import DocumentRow
    from phaseline.model.rows.rows import ExecutionRow

A_TEXT, A_MAPPING, A_LIST = (str, "a text"), (dict, "a mapping"), (list, "a list")
KINDS: Mapping[str, tuple[type, str]] = {
    **dict.fromkeys(("name", "id", "action", "status"), A_TEXT),
    **dict.fromkeys(("environment", "files"), A_MAPPING),
    "tags": A_LIST,
}
"""{key of Heat's documents: required type of its value, which may also be null}. The key ``template`` is not checked."""
NATIVE_KINDS: Mapping[str, tuple[type, str]] = {
    "template_digest": A_TEXT,
    **dict.fromkeys(("code", "uses", "files", "counts", "restricted"), A_MAPPING),
    **dict.fromkeys(("packages", "instances", "groups", "relationships"), A_LIST),
}
"""{key that only Phaseline's documents have: (required type, its name in problems)}. Each key may be missing."""
ROWS: Mapping[str, tuple[type, str]] = {
    **dict.fromkeys(("packages", "instances", "groups"), A_MAPPING),
    "relationships": A_LIST,
}
"""{list or mapping in Phaseline's part of a document: the required type of its entries}."""
SHOWN = 5
"""Number of names that a problem lists."""


@frozen
class AbandonedView:
    """The stored document of an abandoned deployment. ``id`` is the id of the execution that abandoned it.

    Times are in ms; ``until_at`` is when the document is deleted.
    """

    id: str
    deployment: str
    at: int
    until_at: int
    created_by: str
    size_bytes: int


def export(ctx: RequestContext, name: str, *, only_others: bool = False) -> Mapping[str, Value]:
    """Export the document of a deployment; nothing is changed. Its secrets are encrypted.

    With ``only_others`` the document has only the keys that Heat also knows (source 2). Raises: PL-C010, PL-C043 for a
    cluster of resources.
    """
    store = ctx.store
    row = find_deployment(store, name)
    if row.kind == "resources":
        message = f"'{row.name}' is a cluster of resources, only deployments of blueprints have documents"
        raise problem_error(
            "PL-C043", message, f"see its resources: phaseline resources list -d {row.name}", subject=row.name
        )
    topology = store.topology(row.number)
    found = stack_export.written_down(
        store,
        (row.number, row.name, row.tenant),
        (topology, store.states(row.number), store.documents(row.number)),
        row.code,
        state_names=store.state_names(row.number),
        doing=_last_action(store.executions(row.number)),
        files=stack_files.taken(ctx, row.number, row.code, store.blueprint(row.number).file),
    )
    return stack_document.as_others_have_it(found) if only_others else found


def _last_action(executions: Sequence[ExecutionRow]) -> tuple[str, str]:
    """Return (last action of the deployment, how it ended), both in the words of Heat (source 2)."""
    acts = (
        row
        for row in reversed(executions)
        if row.request.workflow != REACH_WORKFLOW and lifecycle_actions.action_of(row.request.workflow)
    )
    last = next(acts, None)
    if last is None:
        return "CREATE", "INIT"
    how = "IN_PROGRESS" if not last.status.is_ended else "COMPLETE" if last.status == "completed" else "FAILED"
    return lifecycle_actions.action_of(last.request.workflow), how


# -- abandoned deployments ---------------------------------------------------------------------------------------------


def list_abandoned(ctx: RequestContext) -> Sequence[AbandonedView]:
    """Return the stored documents of abandoned deployments, the oldest first."""
    return [_view(row) for row in _kept(ctx)]


def show_abandoned(ctx: RequestContext, id: str) -> Mapping[str, Value]:
    """Return the document of an abandoned deployment. Raises: PL-C090."""
    for row in _kept(ctx):
        if row.name == id:
            return ctx.store.stack_documents.body(row)
    hint = did_you_mean(id, [row.name for row in _kept(ctx)])
    mend = f"{hint} see: phaseline abandoned list".strip()
    raise problem_error("PL-C090", f"no abandoned deployment is stored as '{id}'", mend)


def _kept(ctx: RequestContext) -> list[DocumentRow]:
    begin = ctx.clock.now() - ABANDONED_KEPT_MS
    return [row for row in ctx.store.stack_documents.all(ABANDONED) if row.at >= begin]


def _view(row: DocumentRow) -> AbandonedView:
    return AbandonedView(
        row.name, row.deployment_name, row.at, row.at + ABANDONED_KEPT_MS, row.created_by, row.size_bytes
    )


# -- reading -----------------------------------------------------------------------------------------------------------


def read_document(path: str) -> Mapping[str, Any]:
    """Read the document in a file. Raises: PL-C081, PL-C082."""
    try:
        found = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(path, str(error)) from error
    if isinstance(found, dict) and isinstance(found.get("document"), dict):
        found = found["document"]  # as --json shows it
    if not isinstance(found, dict) or not isinstance(found.get("resources"), dict):
        raise _unreadable(path, "it has no 'resources'")
    wrong = [name for name, one in found["resources"].items() if not isinstance(one, dict)]
    if wrong:
        raise _unreadable(path, f"the resource '{wrong[0]}' is no mapping")
    native = found.get(stack_document.NATIVE)
    if native is not None and not isinstance(native, dict):
        raise _unreadable(path, f"'{stack_document.NATIVE}' is no mapping")
    said = stack_document.FORMAT if native is None else native.get("format")
    if not isinstance(said, int) or isinstance(said, bool) or said < 1:
        raise _unreadable(path, f"'{stack_document.NATIVE}' has no 'format'")
    if said > stack_document.FORMAT:
        message = f"{path} is written in form {said}, and forms up to {stack_document.FORMAT} can be read"
        raise problem_error("PL-C082", message, "use the version of Phaseline that wrote it, or a newer one")
    wrong = list(_of_other_kinds(found, native or {})) or list(_no_names(found, native or {}))
    if wrong:
        raise ProblemsError([problem for why in wrong for problem in _unreadable(path, why).problems])
    return found


def _of_other_kinds(document: Mapping[str, Any], native: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each key of a document, or of its part ``native``, whose value has a wrong type."""
    for key, (kind, called) in KINDS.items():
        if document.get(key) is not None and not isinstance(document[key], kind):
            yield f"'{key}' must be {called}"
    for key, (kind, called) in NATIVE_KINDS.items():
        if key not in native:
            continue
        if not isinstance(native[key], kind):
            yield f"'phaseline.{key}' must be {called}"
        elif key in ROWS and not all(isinstance(row, ROWS[key][0]) for row in native[key]):
            yield f"each of 'phaseline.{key}' must be {ROWS[key][1]}"


def _no_names(document: Mapping[str, Any], native: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about invalid names in a document, of which ``native`` is the part ``phaseline`` (decision 33).

    The names are checked because they become names of nodes, instances and folders.
    """
    names = set(document["resources"])
    for row in (*native.get("instances", ()), *native.get("groups", ())):
        names |= {row[key] for key in ("id", "node", "name", "group") if isinstance(row.get(key), str)}
    template = document.get("template")
    nodes = template.get("nodes") if isinstance(template, dict) else None
    for row in nodes if isinstance(nodes, list | dict) else ():
        name = row[0] if isinstance(row, list) and row else row
        names |= {name} if isinstance(name, str) else set()
    if not are_names(names):
        for name in sorted(names):
            if why := why_no_name(name):
                yield f"the name '{shown_name(name)}' {why}"


def _unreadable(path: str, why: str) -> ProblemsError:
    mend = "give a file that phaseline export or phaseline abandon has written"
    return problem_error("PL-C081", f"{path} is no document of a deployment: {why}", mend)


def unreadable_parts(path: str, error: Exception) -> ProblemsError:
    """Return PL-C081 for a document whose parts do not fit together."""
    told = f"it names {error} without defining it" if isinstance(error, KeyError) else str(error)
    return _unreadable(path, told)


def raise_if_sealed_elsewhere(ctx: RequestContext, inputs: Mapping[str, Any], resources: Mapping[str, Any]) -> None:
    """Raise PL-C086 with all values that another store has encrypted."""
    problems = []
    for name in sorted(_closed(ctx, inputs)):
        message = f"the secrets in input '{name}' were sealed by another store"
        problems.append(Problem("PL-C086", message, f"give a new value for the input: -i {name}=…"))
    data = {name: resource.get("resource_data") for name, resource in resources.items()}
    closed = sorted(_closed(ctx, data))
    if closed:
        listed = ", ".join(closed[:SHOWN]) + (f" and {len(closed) - SHOWN:,} more" if len(closed) > SHOWN else "")
        message = f"the secrets in the runtime properties of {listed} were sealed by another store"
        mend = "take them out of the document's resource_data, or adopt in the store that wrote it"
        problems.append(Problem("PL-C086", message, mend))
    if problems:
        raise ProblemsError(problems)


def _closed(ctx: RequestContext, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of values with encrypted parts that this store cannot decrypt."""
    for name, value in values.items():
        try:
            ctx.vault.unsealed(value)
        except ProblemsError as error:
            if any(problem.code not in CANNOT_OPEN for problem in error.problems):
                raise
            yield name
