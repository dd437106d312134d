"""Components: nodes that make a deployment of another blueprint, install it and take it away again (CO1 to CO12).

Nothing is stored by these functions. What they make is in the follow-up of their outcome, and a call that is repeated
finds it by its cause. While another execution runs, the entry sleeps until that has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.compat.cloudify.types import configuration as config
from phaseline.compat.cloudify.types.members import for_each
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.stored_blueprints import StoredBlueprint
from phaseline.model.rows.follow_ups import Continuation, FollowUp
from phaseline.ports.estate import InnerDeployment, InnerWorkflow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from phaseline.calls.batches.native_items import ItemBatch
    from phaseline.compat.cloudify.types.members import Member
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow

LONGEST_S = 366 * 24 * 3600
"""Seconds for which an entry sleeps whose call has no time-out."""
UNINSTALL = "uninstall"
FILTERS = frozenset({"node_ids", "node_instance_ids", "type_names", "include_instances", "exclude_instances"})
"""Parameters of an outer workflow that name its own nodes, and so are not handed on."""


def upload_blueprint(batch: ItemBatch) -> None:
    """Store the blueprint of each Component, unless it is stored already (CO2)."""
    for_each(batch, _upload)


def _upload(member: Member) -> None:
    given = config.configuration(member)
    blueprint = config.section(given, "blueprint")
    needs_none = config.section(given, "deployment").get("external_resource") and not (
        blueprint.get("id") or blueprint.get("blueprint_archive")
    )
    if needs_none:
        member.item.complete()
        return
    keep_blueprint(member, given)


def keep_blueprint(member: Member, given: Mapping[str, Value]) -> None:
    """Store the blueprint that ``given`` describes, and write its id and version into the runtime properties."""
    config.raise_if_elsewhere(member)
    part, estate, entry = config.section(given, "blueprint"), member.estate, member.entry
    archive = part.get("blueprint_archive")
    if part.get("external_resource") or not archive:
        if not part.get("id"):
            raise config.wrong("the blueprint has neither 'id' nor 'blueprint_archive'", "give one of them")
        found: object = estate.stored_blueprint(entry, config.named(part, ""))
    else:
        if not isinstance(archive, str):
            raise config.wrong("'blueprint_archive' is not a text", "name a folder or an archive beside the blueprint")
        default = f"{member.item.deployment_id}-{member.item.node_id}"
        main = part.get("main_file_name") or "blueprint.yaml"
        folder = member.call.site.deployment.code.blueprint_folder
        found = estate.read_blueprint(entry, config.named(part, default), archive, str(main), folder)
        if not isinstance(found, StoredBlueprint):
            member.again(0, f"stores the blueprint '{found.blueprint.id}'", FollowUp(blueprint=found))
            return
    assert isinstance(found, StoredBlueprint)
    is_ours = bool(archive) and not part.get("external_resource") and estate.is_ours(entry, found)
    member.runtime["blueprint"] = {"id": found.id, "version": found.version, "ours": is_ours}
    member.item.complete()


def create(batch: ItemBatch) -> None:
    """Make the deployment of each Component with its secrets and labels, in the turn of the outcome (CO3, CO4)."""
    for_each(batch, _configure)


def _configure(member: Member) -> None:
    config.raise_if_elsewhere(member)
    known = member.part("deployment")
    if "ours" in known and member.estate.deployment(member.entry, str(known.get("id"))) is not None:
        member.item.complete()
        return
    part = config.section(config.configuration(member), "deployment")
    name = str(known.get("id") or config.named(part, member.item.instance_id))
    if part.get("external_resource"):
        if member.estate.deployment(member.entry, name) is None:
            raise config.wrong(f"there is no deployment '{name}'", "make it first, or leave 'external_resource' out")
        _know(member, name, is_ours=False, secrets=[])
        member.follow(FollowUp(needs=(member.need("component", name),)))
        return
    secrets = _secrets(member)
    made = own_deployment(member)
    if made is not None:
        _know(member, made.name, is_ours=True, secrets=sorted(secrets))
        return
    _make(member, part, name, secrets)


def _know(member: Member, name: str, *, is_ours: bool, secrets: list[str]) -> None:
    member.runtime["deployment"] = {"id": name, "ours": is_ours}
    member.runtime["plugins"] = []
    member.runtime["secrets"] = list(secrets)
    member.item.complete()


def _make(member: Member, part: Mapping[str, Value], name: str, secrets: Mapping[str, str]) -> None:
    plugins = member.item.inputs.get("plugins") or member.item.properties.get("plugins")
    if plugins:
        raise config.wrong(
            "a component does not install plugins yet",
            "leave 'plugins' out, and install them: phaseline plugins install",
        )
    labels = [*config.labels_of_part(part), (config.PARENT, member.item.deployment_id)]
    wanted = InnerDeployment(name, _blueprint(member), config.mapping_of(part, "inputs"), labels)
    new = member.estate.prepare_deployment(member.entry, wanted, list(secrets))
    rows = tuple(member.estate.prepare_secret(member.entry, key, value) for key, value in secrets.items())
    is_numbered = bool(part.get("auto_inc_suffix"))
    follow_up = FollowUp(deployment=new, is_numbered=is_numbered, secrets=rows, needs=(member.need("component"),))
    member.again(0, f"makes the deployment '{name}'", follow_up)


def _blueprint(member: Member) -> str:
    known = member.part("blueprint")
    if "id" in known and "version" in known:
        return f"{known['id']}@{known['version']}"
    part = config.section(config.configuration(member), "blueprint")
    return config.named(part, "") or str(known.get("id") or "")


def _secrets(member: Member) -> dict[str, str]:
    """Return {name: text} of the secrets that the node wants to be made."""
    found = member.item.inputs.get("secrets") or member.item.properties.get("secrets") or {}
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise config.wrong("'secrets' is not a mapping of names to texts", "write: secrets: {name: text}")
    return {str(name): str(value) for name, value in found.items()}


def own_deployment(member: Member) -> DeploymentRow | None:
    """Return the deployment that an earlier call of this entry has made, or None."""
    numbers = [row.number for row in member.made() if not row.is_execution and member.entry.has_made(row.cause)]
    found = member.estate.deployments(member.entry, numbers) if numbers else ()
    return found[-1] if found else None


def execute_start(batch: ItemBatch) -> None:
    """Run a workflow of each Component's deployment, and sleep until it has ended (CO6 to CO11)."""
    for_each(batch, _execute)


def _execute(member: Member) -> None:
    config.raise_if_elsewhere(member)
    workflow = str(member.value("workflow_id") or "install")
    is_stop = member.call.site.operation.endswith(".stop")
    known = member.part("deployment")
    name = str(known.get("id") or "")
    row = member.estate.deployment(member.entry, name) if name else None
    if row is None:
        if not is_stop:
            raise config.wrong(
                f"the deployment '{name}' of '{member.item.instance_id}' is gone",
                "let it be made again by reinstalling the node, or call it done: phaseline executions complete ID "
                "--reason TEXT",
            )
        member.item.log.warning("the deployment '%s' is gone: nothing is left to stop", name)
        member.item.complete()
        return
    inner = _inner(member, row, workflow)
    if inner is not None:
        _read(member, row, inner, _finished)
        return
    if is_stop and workflow == UNINSTALL and not known.get("ours"):
        member.item.log.info("the deployment '%s' was there before, so it stays", row.name)
        member.item.complete()
        return
    if is_stop and workflow == UNINSTALL and member.estate.is_at_rest(row):
        member.item.log.info("nothing of the deployment '%s' is installed", row.name)
        member.item.complete()
        return
    if workflow == "install" and member.estate.is_installed_whole(row):
        member.item.log.info("the deployment '%s' is installed already", row.name)
        _finished(member, row)
        return
    arguments = config.start_arguments(member)
    if is_stop and workflow == UNINSTALL:
        arguments = altered(arguments, force=True)
    _begin(member, row, workflow, arguments)


def _begin(member: Member, row: DeploymentRow, workflow: str, arguments: config.StartArguments) -> None:
    """Start a workflow, and sleep until it has ended."""
    timeout = config.timeout_of(member)
    outer = member.call.site.execution
    inherited: Mapping[str, Value] = {}
    if outer.workflow == workflow:
        inherited = {name: value for name, value in outer.parameters.items() if name not in FILTERS}
    wanted = InnerWorkflow(workflow, arguments.parameters, inherited, arguments.allow_custom, arguments.force)
    new = member.estate.prepare_execution(member.entry, row.name, wanted)
    if arguments.dry_run:
        member.item.log.info("dry run: '%s' of '%s' was checked, and not begun", workflow, row.name)
        member.item.complete()
        return
    _sleep(member, timeout, f"waits for '{workflow}' of '{row.name}'", FollowUp(executions=(new,)))


def _sleep(member: Member, timeout: int, message: str, follow_up: FollowUp, inner: int = 0, attempt: int = -1) -> None:
    """Sleep until the awaited execution ends.

    ``inner``: its number, 0 if it is a new one. ``attempt``: that of an execution to be continued, else -1.
    """
    now = member.estate.now()
    member.call.data = {"generation": member.entry.generation, "since": now, "inner": inner, "attempt": attempt}
    member.again(LONGEST_S if timeout < 0 else timeout, message, follow_up)


def await_workflow(
    member: Member, row: DeploymentRow, workflow: str, finish: Callable[[Member, DeploymentRow], None]
) -> None:
    """Run a workflow of the deployment and sleep until it has ended; when it has completed, ``finish`` the member."""
    inner = _inner(member, row, workflow)
    if inner is None:
        _begin(member, row, workflow, config.StartArguments({}, False, False, False))
    else:
        _read(member, row, inner, finish)


def _inner(member: Member, row: DeploymentRow, workflow: str) -> ExecutionRow | None:
    """Return the execution that this entry has started, in any attempt of it.

    After a retry from the start the entry is another one. Then the last execution of this workflow counts, unless it has
    completed.
    """
    numbers = [each.number for each in member.made() if each.is_execution]
    rows = member.estate.executions(member.entry, numbers) if numbers else ()
    causes = {each.number: each.cause for each in member.made() if each.is_execution}
    own = [each for each in rows if each.deployment == row.number and each.request.workflow == workflow]
    data = member.call.data if isinstance(member.call.data, dict) else {}
    if data.get("inner") and data.get("generation") == member.entry.generation:
        return next((each for each in own if each.number == data["inner"]), None)
    exact = [each for each in own if member.entry.has_made(causes[each.number])]
    left = [each for each in own if each.status.value != "completed"]
    return max(exact or left, key=lambda each: each.number, default=None)


def _read(
    member: Member, row: DeploymentRow, inner: ExecutionRow, finish: Callable[[Member, DeploymentRow], None]
) -> None:
    """Read how the inner execution has ended, continue it after a user's retry, or sleep on."""
    data = member.call.data if isinstance(member.call.data, dict) else {}
    is_current = data.get("generation") == member.entry.generation
    status = inner.status.value
    if status == "completed":
        finish(member, row)
    elif not inner.status.is_ended:
        _wait_on(member, inner, data if is_current else {})
    elif not is_current or data.get("attempt") == inner.attempt:
        is_clean = not any(member.entry.has_made(each.cause) for each in member.made() if each.number == inner.number)
        follow_up = FollowUp(retries=(Continuation(inner.number, is_clean),))
        message = f"continues {inner.id} of '{row.name}'"
        _sleep(member, config.timeout_of(member), message, follow_up, inner.number, inner.attempt)
    elif status == "failed":
        why = member.estate.first_failure(inner)
        member.item.fail(f"{inner.id} of '{row.name}' failed: {why}")
    else:
        member.item.fail(f"{inner.id} of '{row.name}' was {status}")


def _wait_on(member: Member, inner: ExecutionRow, data: Mapping[str, Value]) -> None:
    """Sleep on while the inner execution is open; fail after the time-out, which leaves the inner one running (CO8)."""
    timeout, since = config.timeout_of(member), data.get("since")
    message, follow_up = f"waits for {inner.id} of '{inner.deployment_name}'", FollowUp(awaits=(inner.number,))
    if not isinstance(since, int):
        _sleep(member, timeout, message, follow_up, inner.number)
        return
    left_ms = since + timeout * 1000 - member.estate.now()
    if timeout >= 0 and left_ms <= 0:
        member.item.fail(
            f"{inner.id} of '{inner.deployment_name}' has not ended within {timeout} s, and still runs; a retry waits for it again"
        )
        return
    member.again(LONGEST_S if timeout < 0 else left_ms / 1000, message, follow_up)


def _finished(member: Member, row: DeploymentRow) -> None:
    keep_capabilities(member, row)
    member.item.complete()


def keep_capabilities(member: Member, row: DeploymentRow) -> None:
    """Evaluate the capabilities of the deployment, and write them into the runtime properties."""
    member.runtime["capabilities"] = dict(member.estate.capabilities(member.entry, row.name))


def delete(batch: ItemBatch) -> None:
    """Delete what each Component has made: its deployment, its secrets, and its blueprint if nothing else uses it (CO5)."""
    for_each(batch, _delete)


def _delete(member: Member) -> None:
    config.raise_if_elsewhere(member)
    if isinstance(member.call.data, dict) and member.call.data.get("deleted"):
        _forget(member)
        return
    deployment, blueprint, secrets = member.part("deployment"), member.part("blueprint"), member.runtime.get("secrets")
    deletes: tuple[int, ...] = ()
    if deployment.get("ours"):
        row = member.estate.deployment(member.entry, str(deployment.get("id")))
        if row is None:
            member.item.log.warning("the deployment '%s' is gone already", deployment.get("id"))
        elif member.estate.is_installed(row):
            raise config.wrong(
                f"instances of the deployment '{row.name}' may still exist",
                f"remove them first: phaseline uninstall -d {row.name}; then retry",
            )
        else:
            deletes = (row.number,)
    versions = own_blueprint(member, blueprint)
    names = tuple(str(name) for name in secrets) if isinstance(secrets, list) else ()
    needs_no_more = (member.item.instance_id,)
    if not (deletes or versions or names):
        _forget(member)
        member.follow(FollowUp(needs_no_more=needs_no_more))
        return
    member.call.data = {"deleted": True}
    follow_up = FollowUp(
        deletes=deletes, deletes_blueprints=versions, deletes_secrets=names, needs_no_more=needs_no_more
    )
    member.again(0, "deletes what it has made", follow_up)


def own_blueprint(member: Member, known: Mapping[str, Value]) -> tuple[int, ...]:
    """Return the number of the stored blueprint if Components have made it and it is still there."""
    if not known.get("ours"):
        return ()
    found = member.estate.find_blueprint(member.entry, f"{known.get('id')}@{known.get('version')}")
    return (found.number,) if found is not None and member.estate.is_ours(member.entry, found) else ()


def _forget(member: Member) -> None:
    for key in ("deployment", "blueprint", "secrets", "plugins", "capabilities"):
        member.runtime.pop(key, None)
    member.estate.forget_files(member.entry)
    member.call.data = None
    member.item.complete()


def refresh(batch: ItemBatch) -> None:
    """Evaluate the capabilities of each Component's deployment again."""
    for_each(batch, _refresh)


def _refresh(member: Member) -> None:
    name = str(member.part("deployment").get("id") or "")
    row = member.estate.deployment(member.entry, name) if name else None
    if row is None:
        raise config.wrong(f"the deployment '{name}' of '{member.item.instance_id}' is gone", "reinstall the node")
    _finished(member, row)


def not_yet(batch: ItemBatch, what: str) -> None:
    """Refuse an operation that Components do not have yet."""

    def refuse(member: Member) -> None:
        name = str(member.part("deployment").get("id") or member.item.instance_id)
        raise config.wrong(
            f"a component has no '{what}' yet", f"run it in its deployment: phaseline executions start {what} -d {name}"
        )

    for_each(batch, refuse)
