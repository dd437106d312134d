"""Adopt existing instances from a document, and abandon a deployment without touching its real resources."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phaseline.dsl.documents import json_codec
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.stored_blueprints import StoredBlueprint
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.problems.name_rules import shown_name, why_no_name
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.rows.rows import NewDeployment, RequestKind
from phaseline.plan.topology import adoption as topology_adoption
from phaseline.plan.topology.stack_document import NATIVE, digest_of
from phaseline.use_cases.commands import start_workflow
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.packages import adopt as packages_adopt
from phaseline.use_cases.commands.submission import Submission
from phaseline.use_cases.commands.upload_blueprint import add_blueprint
from phaseline.use_cases.loading.blueprint_loading import LoadedBlueprint, deployment_name, load
from phaseline.use_cases.loading.deployment_rows import (
    dependencies,
    raise_if_secrets_missing,
    sealed_inputs,
    with_begun_schedules,
)
from phaseline.use_cases.lookup.blocking_executions import raise_if_invalid
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.prepare import foreseen_stops, plan_preview, workflow_start
from phaseline.use_cases.prepare.adoption_conflicts import raise_if_adopted_elsewhere
from phaseline.use_cases.prepare.deployment_spec import provider_warnings, require_free_name
from phaseline.use_cases.prepare.options import DEFAULT_OPTIONS
from phaseline.use_cases.prepare.pre_post import new_execution, with_stops
from phaseline.use_cases.prepare.stack_documents import raise_if_sealed_elsewhere, read_document, unreadable_parts
from phaseline.use_cases.prepare.stack_files import Brought, is_same, is_there, moved
from phaseline.use_cases.prepare.stack_files import brought as bring
from phaseline.use_cases.queries.deployments import raise_if_inner

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.execution.execution import Request
    from phaseline.model.packages.installed import PackageUse
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.orders import NewOrder
    from phaseline.plan.topology.adoption import Adoption
    from phaseline.use_cases.prepare.options import ExecutionOptions
    from phaseline.use_cases.prepare.plan_preview import PlanPreview


UNFIT = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)
"""Exceptions that reading a part of a document raises if another program wrote the part or it was changed."""


@frozen
class AdoptOrder:
    """The arguments of ``adopt``: a document, and values that override those in it.

    ``name`` None: use the name in the document. ``blueprint``: a file or a stored blueprint; None: use the blueprint of
    the document. ``check``: call the operations that check whether the instances exist.
    """

    document: str
    name: str | None = None
    blueprint: str | None = None
    inputs: Mapping[str, Value] = field(default_factory=dict)
    plugin_folders: Sequence[str] | None = None
    allow_type_change: bool = False
    check: bool = True


@frozen
class PreparedAdoption:
    """A document that is ready to be adopted.

    ``adoption``: its instances, matched with the blueprint. ``inputs``: as they will be stored. ``brought``: the
    blueprint files from the document; None if the blueprint is available here without them.
    """

    adoption: Adoption
    blueprint: Blueprint
    inputs: Mapping[str, Value]
    code: CodeLocation
    uses: Mapping[str, int]
    packages: Sequence[PackageUse] = ()
    brought: Brought | None = None


@once("adopt")
def adopt(
    ctx: RequestContext,
    order: AdoptOrder,
    *,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
    given: NewOrder | None = None,
) -> Submission:
    """Create a deployment from a document whose instances exist already.

    If there is any problem, nothing is stored. Raises: ``ProblemsError`` with PL-C081, PL-C082, PL-C086, PL-C095,
    PL-S010, all of PL-C083 and PL-C084, PL-B079, or all problems of the blueprint or its inputs.
    """
    name, prepared, request = _asked(ctx, order, manner)
    adoption = prepared.adoption
    warnings: list[Problem] = []
    if manner.breakpoints:
        warnings += foreseen_stops.look_before_first(ctx, manner.breakpoints, request, _loaded(prepared))
    warnings += adoption.warnings
    existing = require_free_name(ctx, name)
    raise_if_adopted_elsewhere(ctx, name, adoption)
    warnings += provider_warnings(ctx, name, prepared.blueprint, allow_missing=True)
    uses = prepared.uses
    if prepared.brought is not None:
        uses = {**uses, "": _kept(ctx, prepared.brought, prepared.blueprint)}
    now = ctx.clock.now()
    blueprint, topology = with_begun_schedules(prepared.blueprint, adoption.topology, now)
    new = NewDeployment(
        name,
        blueprint,
        prepared.inputs,
        topology,
        prepared.code,
        ctx.actor,
        now,
        uses=uses,
        packages=prepared.packages,
        documents={number: _sealed(ctx, body) for number, body in adoption.documents.items()},
        dependencies=dependencies(prepared.blueprint),
        has_enabled_schedules=False,
    )
    asked, more = new_execution(ctx, 0, request, at=now)
    with ctx.store.as_one(given):
        _, row = ctx.store.create_deployment(new, asked, replaces=existing.number if existing else 0, asks=True)
    assert row is not None, "an execution was asked for"
    return Submission(row, warnings=(*warnings, *more))


def plan_adoption(ctx: RequestContext, order: AdoptOrder, *, manner: ExecutionOptions = DEFAULT_OPTIONS) -> PlanPreview:
    """Return the plan of an adoption without storing anything. Raises: the errors of ``adopt``."""
    name, found, request = _asked(ctx, order, manner)
    require_free_name(ctx, name)
    planned = plan_preview.plan_made(ctx, request, name, _loaded(found), given=manner.breakpoints)
    raise_if_adopted_elsewhere(ctx, name, found.adoption)
    return planned


def _asked(ctx: RequestContext, order: AdoptOrder, manner: ExecutionOptions) -> tuple[str, PreparedAdoption, Request]:
    """Return (name of the deployment, its prepared adoption, the request). Raises: all problems."""
    document = read_document(order.document)
    name = _name(order, document)
    prepared = prepare_adoption(ctx, order, document)
    adoption = prepared.adoption
    if adoption.problems:
        raise ProblemsError(adoption.problems)
    raise_if_secrets_missing(ctx, prepared.blueprint)
    parameters: dict[str, Value] = {"document": Path(order.document).name}
    if adoption.states:
        parameters["states"] = dict(adoption.states)
    if not order.check:
        parameters["check"] = False
    request = manner.request("adopt", ctx, parameters, adoption.topology)
    request = with_stops(ctx, request, adoption.topology)
    raise_if_invalid(adoption.topology, request)
    return name, prepared, request


def _loaded(prepared: PreparedAdoption) -> LoadedBlueprint:
    """Return the deployment that the adoption would create, in the form of a loaded blueprint."""
    adoption = prepared.adoption
    return LoadedBlueprint(
        prepared.blueprint, prepared.inputs, adoption.topology, prepared.code, adoption.warnings, prepared.uses
    )


def prepare_adoption(ctx: RequestContext, order: AdoptOrder, document: Mapping[str, Any]) -> PreparedAdoption:
    """Match the instances of a document with its own blueprint.

    If the order has another blueprint or other inputs, read that blueprint and match the instances with it.
    """
    environment = document.get("environment")
    said = environment.get("parameters") if isinstance(environment, dict) else None
    inputs: Mapping[str, Value] = said if isinstance(said, dict) else {}
    over = {name: value for name, value in inputs.items() if name not in order.inputs}
    raise_if_sealed_elsewhere(ctx, over, document["resources"])
    if NATIVE in document and order.blueprint is None and not order.inputs:
        return _as_it_was(ctx, order, document, inputs)
    return _anew(ctx, order, document, {name: ctx.vault.unsealed(value) for name, value in over.items()})


def _as_it_was(
    ctx: RequestContext, order: AdoptOrder, document: Mapping[str, Any], inputs: Mapping[str, Value]
) -> PreparedAdoption:
    brought = None
    try:
        if document["phaseline"]["template_digest"] != digest_of(document["template"]):
            raise ValueError("its template was changed, name a blueprint instead: --blueprint FILE")
        blueprint = json_codec.blueprint_from_json(document["template"])
        _raise_if_bad_names(blueprint)
        adoption = topology_adoption.same(document, blueprint, allow_type_change=order.allow_type_change)
        code, uses = code_of(document), _uses(ctx, document)
        if "" not in uses and not is_there(ctx, document, code.blueprint_folder):
            brought = _brought(ctx, order, document)
            code = moved(ctx, brought, code)
    except UNFIT as error:
        raise unreadable_parts(order.document, error) from error
    return _with_packages(
        ctx, order, document, PreparedAdoption(adoption, blueprint, inputs, code, uses, (), brought), None
    )


def _brought(ctx: RequestContext, order: AdoptOrder, document: Mapping[str, Any]) -> Brought:
    """Write the document's blueprint files into a folder, and return them. Raises: PL-C024 if it contains none."""
    found = bring(ctx, document, _name(order, document))
    if found is None:
        said = (document["phaseline"].get("files") or {}).get("left_out")
        why = f", and the document has none of its files: {said}" if said else ""
        mend = "name the blueprint where it is now: --blueprint FILE"
        raise problem_error("PL-C024", f"its blueprint is not here: {code_of(document).blueprint_folder}{why}", mend)
    return found


def _anew(
    ctx: RequestContext, order: AdoptOrder, document: Mapping[str, Any], former: Mapping[str, Value]
) -> PreparedAdoption:
    folders = order.plugin_folders
    if folders is None:
        folders = code_of(document).plugin_folders if "phaseline" in document else ()
    file, brought = order.blueprint, None
    if file is None:
        own = _own_blueprint(ctx, order, document)
        file, brought = (own.main, own) if isinstance(own, Brought) else (own, None)
        if brought is not None and order.plugin_folders is None:
            folders = moved(ctx, brought, code_of(document)).plugin_folders
    loaded = load(
        ctx,
        file,
        inputs=order.inputs,
        plugin_folders=tuple(folder for folder in folders if order.plugin_folders is not None or Path(folder).is_dir()),
        yes_many=True,
        former=former,
    )
    try:
        adoption = topology_adoption.matched(document, loaded.topology, allow_type_change=order.allow_type_change)
    except UNFIT as error:
        raise unreadable_parts(order.document, error) from error
    inputs = sealed_inputs(ctx, loaded)
    made = PreparedAdoption(adoption, loaded.blueprint, inputs, loaded.code, loaded.uses, brought=brought)
    return _with_packages(ctx, order, document, made, loaded.packages)


def _with_packages(
    ctx: RequestContext,
    order: AdoptOrder,
    document: Mapping[str, Any],
    made: PreparedAdoption,
    imported: Sequence[PackageUse] | None,
) -> PreparedAdoption:
    """Return the prepared adoption with the packages that the document names.

    ``imported``: the packages that the blueprint imports, if it was read again; None: it was not.
    """
    native = document.get("phaseline")
    written = native.get("packages") if isinstance(native, dict) else None
    if not written:
        return altered(made, packages=tuple(imported or ()))

    try:
        found = packages_adopt.found_again(ctx, written, imported)
    except UNFIT as error:
        raise unreadable_parts(order.document, error) from error
    adoption = altered(made.adoption, warnings=(*made.adoption.warnings, *found.warnings))
    return altered(made, adoption=adoption, packages=found.uses)


def _own_blueprint(ctx: RequestContext, order: AdoptOrder, document: Mapping[str, Any]) -> str | Brought:
    """Return the blueprint of a document: its name in the store, its file, or its files from the document.

    The first that is available here is used. Raises: PL-C024 if none is available, PL-C081 for a document without a
    readable blueprint.
    """
    mend = "name a blueprint for what it has: --blueprint FILE"
    native = document.get("phaseline")
    if native is None:
        raise problem_error("PL-C081", f"{order.document} brings no blueprint that can be read here", mend)
    try:
        stored = native["uses"].get("")
        template = document["template"]
        folder = code_of(document).blueprint_folder
        if stored and "" in _uses(ctx, document):
            return str(stored)
        if is_there(ctx, document, folder):
            return os.fspath(Path(folder, Path(str(template["file"])).name))
        return _brought(ctx, order, document)
    except UNFIT as error:
        raise unreadable_parts(order.document, error) from error


def _raise_if_bad_names(blueprint: Blueprint) -> None:
    """Raise ``ValueError`` for an invalid name in the blueprint of a document.

    The check is needed because another program may have written the document.
    """
    for name in (*blueprint.nodes, *blueprint.groups, *blueprint.inputs, *blueprint.capabilities, *blueprint.labels):
        why = why_no_name(name)
        if why:
            raise ValueError(f"the name '{shown_name(name)}' {why}")


def _name(order: AdoptOrder, document: Mapping[str, Any]) -> str:
    said = order.name or str(document.get("name") or "")
    return deployment_name(order.document, said)


def code_of(document: Mapping[str, Any]) -> CodeLocation:
    """Return the folders of the deployment's code at the time when the document was written."""
    said = document["phaseline"]["code"]
    imported = tuple((str(one), str(other)) for one, other in said["imported"])
    return CodeLocation(str(said["blueprint_folder"]), tuple(map(str, said["plugin_folders"])), imported)


def _uses(ctx: RequestContext, document: Mapping[str, Any]) -> dict[str, int]:
    """Return {namespace: number} of the stored blueprints that the document's blueprint imports and this store has."""
    found: dict[str, int] = {}
    for namespace, named in document["phaseline"]["uses"].items():
        id, _, version = str(named).rpartition("@")
        stored = ctx.store.stored_blueprints.find(id, int(version))
        if stored is not None and (namespace or is_same(document, stored)):
            found[str(namespace)] = stored.number
    return found


def _sealed(ctx: RequestContext, body: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return the document of an instance as it will be stored, with its secrets encrypted.

    Values that are encrypted already are decrypted first, so that no value is encrypted twice.
    """
    sealed = ctx.vault.sealed(ctx.vault.unsealed(dict(body)))
    assert isinstance(sealed, dict), "a mapping stays one"
    return sealed


# -- abandoning --------------------------------------------------------------------------------------------------------


@once("abandon")
def abandon(
    ctx: RequestContext,
    name: str,
    *,
    force: bool = False,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
    given: NewOrder | None = None,
) -> Submission:
    """Export a deployment, store the document under the execution's id, and delete the deployment's records.

    The real resources are not touched. ``force``: cancel its open executions first, and do not require modifications to
    be complete. Raises: PL-C010, PL-C115 if a component of another deployment has made it, PL-C016 while an execution is open, PL-P043 during a modification.
    """
    if force:
        _cancel_all(ctx, name)
    else:
        raise_if_inner(ctx.store, find_deployment(ctx.store, name, to_change=True))
    order = workflow_start.WorkflowStart(
        workflow_start.ABANDON, name, {"force": True} if force else {}, despite_consumers=force
    )
    busy = altered(manner, if_busy="wait" if force else "refuse")
    return start_workflow.start(ctx, order, manner=busy, given=given)


def _cancel_all(ctx: RequestContext, name: str) -> None:
    """Request the cancellation of all open executions of a deployment.

    The execution that is submitted afterwards waits until they have ended.
    """
    row = find_deployment(ctx.store, name, to_change=True)
    for one in ctx.store.executions(row.number, only_open=True):
        ctx.store.ask(RequestKind.CANCEL, one.number, {"id": one.id, "how": "force"}, ctx.actor)


def _kept(ctx: RequestContext, found: Brought, blueprint: Blueprint) -> int:
    """Store the blueprint files of a document; return the number of the new version, or of an equal existing one."""
    new = StoredBlueprint(
        number=0,
        id=found.id,
        version=0,
        main_file=found.tree.main_file,
        digest=found.tree.digest,
        description=blueprint.description,
        language=blueprint.version,
        file_count=len(found.tree.files),
        size_bytes=found.tree.size_bytes,
        created_at=ctx.clock.now(),
        created_by=ctx.actor.name,
    )
    row, _ = add_blueprint(ctx.store.stored_blueprints, new, found.tree, ())
    return row.number
