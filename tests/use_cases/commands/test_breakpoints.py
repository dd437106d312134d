"""H46: breakpoints over a real engine: who stands where, clearing, time-outs, those of a deployment, what is told."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import Settings
from phaseline.app.watcher import NullWatcher
from phaseline.calls.deployments.progress import Progress
from phaseline.cli.render.executions import execution_text
from phaseline.client.local import LocalClient
from phaseline.embedded.follow import follow
from phaseline.embedded.open_app import open_context
from phaseline.embedded.watch_execution import View
from phaseline.model.blueprint.labels import Label
from phaseline.model.execution.breakpoints import Breakpoint, read_breakpoint
from phaseline.model.problems.problem import ProblemsError
from phaseline.use_cases.commands.breakpoints import Kept, add, clear, list_kept, remove
from phaseline.use_cases.commands.control import cancel, complete, resume, wake
from phaseline.use_cases.commands.install import install, uninstall
from phaseline.use_cases.commands.keep_plan import plan_uninstall
from phaseline.use_cases.commands.labels import change_labels
from phaseline.use_cases.commands.update import plan_update, update
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.prepare.options import ExecutionOptions
from phaseline.use_cases.prepare.plan_preview import plan_install
from phaseline.use_cases.prepare.update_preparation import UpdateOrder
from phaseline.use_cases.queries.breakpoints import list_breakpoints
from phaseline.use_cases.queries.events.events_and_logs import events
from phaseline.use_cases.queries.executions import show_execution
from phaseline.use_cases.queries.instance_waits import why
from phaseline.use_cases.queries.status import Need, status
from phaseline.use_cases.queries.stuck import list_stuck

BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins: {things: {executor: central_deployment_agent, install: false}}
node_templates:
  db: {type: cloudify.nodes.Root, interfaces: {cloudify.interfaces.lifecycle: {create: things.things.run}}}
  web:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: things.things.run}}
    relationships: [{type: cloudify.relationships.depends_on, target: db}]
"""
PLUGIN = """
from phaseline import operation

@operation(repeatable=True)
def run(item):
    pass
"""


class UntilItStops(NullWatcher):
    """Leaves when something sleeps and nothing else moves."""

    wants_progress = True

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        self.interrupt = interrupt

    def progressed(self, progress: Progress, now: int) -> None:
        if progress.next_wake is not None:
            self.interrupt()


class Looking(NullWatcher):
    """Keeps what it sees."""

    def __init__(self) -> None:
        self.seen: list[Progress] = []

    def progressed(self, progress: Progress, _now: int) -> None:
        self.seen.append(progress)


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[RequestContext]:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "things.py").write_text(PLUGIN)
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    with open_context(Settings(f"sqlite:///{tmp_path}/store.db"), "a test") as found:
        yield found


def order(tmp_path: Path) -> DeploymentSpec:
    return DeploymentSpec(str(tmp_path / "blueprint.yaml"), "shop")


def test_h46_who_stands_needs_a_person_and_is_told_with_the_command(ctx: RequestContext, tmp_path: Path) -> None:
    view = follow(
        ctx,
        install(ctx, order(tmp_path), manner=ExecutionOptions(breakpoints=(Breakpoint("pre-create"),))),
        watcher=UntilItStops(),
    )
    command = "phaseline breakpoints clear pre-create -d shop"
    assert Need(f"1 instance is stopped at pre-create in {view.id} of 'shop'", command) in status(ctx).needs
    (stands,) = [one for one in list_stuck(ctx, deployment="shop").items if one.kind == "breakpoint"]
    assert (stands.count, stands.executions, stands.mends) == (1, [view.id], [command])
    assert stands.instances == [list_breakpoints(ctx)[0].instance]
    assert [one.due_at for one in status(ctx).executions] == [0]
    (reason,) = why(ctx, stands.instances[0]).reasons
    assert (reason.text, reason.until) == ("it is stopped at pre-create until an operator clears it", 0)
    assert reason.mend == f"clear it to continue: phaseline breakpoints clear pre-create {stands.instances[0]}"
    assert "sleeping" not in {one.kind for one in list_stuck(ctx).items}
    follow(ctx, clear(ctx, "pre-create"), watcher=UntilItStops())
    follow(ctx, clear(ctx, "pre-create"))
    assert (list_stuck(ctx).items, status(ctx).needs) == ([], [])


def test_h46_who_stands_is_listed_and_cleared_and_the_events_say_so(ctx: RequestContext, tmp_path: Path) -> None:
    stops = ExecutionOptions(breakpoints=(Breakpoint("pre-create", "d*"),))
    view = follow(ctx, install(ctx, order(tmp_path), manner=stops), watcher=UntilItStops())
    assert view.interrupted
    (found,) = list_breakpoints(ctx, "shop")
    assert (found.point, found.node, found.execution) == ("pre-create", "db", view.id)
    assert "waits for a person: 1 instance at breakpoints" in execution_text(show_execution(ctx, view.id))
    assert found.message.startswith("paused at pre-create until it is cleared")
    with pytest.raises(ProblemsError, match="PL-C092") as error:
        follow(ctx, clear(ctx, "post-create", deployment="shop"))
    assert f"pre-create of {found.instance}" in error.value.problems[0].mend
    with pytest.raises(ProblemsError, match="PL-C092"):
        follow(ctx, clear(ctx, "pre-create", instances=["web"]))
    assert follow(ctx, clear(ctx, "pre-create", instances=["db"])) == [found]
    assert ctx.store.execution(view.id).status == "completed"
    told = [line.text for line in events(ctx, view.id).lines if line.instance == found.instance]
    at = told.index("Node instance paused at pre-create until it is cleared")
    assert told[at + 1 :][:3] == [
        "Task completed by hand: cleared pre-create",
        "Node instance continues from pre-create",
        "Creating node instance",
    ]
    assert list_breakpoints(ctx) == []


def test_h46_who_stands_is_not_woken_but_vouched_for_or_cleared(ctx: RequestContext, tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT.replace("  web:\n", "  web:\n    instances: {deploy: 2}\n"))
    stops = ExecutionOptions(breakpoints=(Breakpoint("pre-create", "db"),))
    view = follow(ctx, install(ctx, order(tmp_path), manner=stops), watcher=UntilItStops())
    (found,) = list_breakpoints(ctx)
    for operations in ((), ("breakpoint pre-create",)):
        with pytest.raises(
            ProblemsError, match=f"PL-C014 {view.id}: {found.instance} is stopped at pre-create"
        ) as error:
            follow(ctx, wake(ctx, view.id, instances=["db"], operations=operations))
        assert (
            error.value.problems[0].mend == f"clear it: phaseline breakpoints clear pre-create {found.instance} -d shop"
        )
    follower = Looking()
    View(ctx, ctx.store.execution(view.id)).show(follower, is_new=True)
    assert [seen.next_wake for seen in follower.seen] == [None], "who looks up a day later only sleeps on"
    two = ", ".join(sorted(one for one in ctx.store.topology(1).ids if one.startswith("web")))
    with pytest.raises(ProblemsError, match=f"PL-C013 'web' is the beginning of 2 instances: {two}"):
        follow(ctx, complete(ctx, view.id, instances=["web"], reason="seen"))
    said = follow(ctx, complete(ctx, view.id, instances=["db"], reason="seen"), detach=True)
    assert (said.detached, said.status) == (True, "running"), "whoever runs it next hears of it"
    assert follow(ctx, resume(ctx, view.id)).is_good


def test_h46_a_label_that_is_removed_stops_nothing_that_is_begun_then(ctx: RequestContext, tmp_path: Path) -> None:
    assert follow(ctx, install(ctx, order(tmp_path))).is_good
    change_labels(ctx, "shop", add=["csys-breakpoint=pre-delete=web", "csys-breakpoint=pre-stop=db@9s", "team=ops"])
    assert list_kept(ctx, "shop")[0].breakpoints == ["pre-delete=web", "pre-stop=db@9s"]
    change_labels(ctx, "shop", remove=["csys-breakpoint=pre-delete=web"])
    assert list_kept(ctx, "shop")[0].breakpoints == ["pre-stop=db@9s"]
    view = follow(ctx, uninstall(ctx, "shop"), watcher=UntilItStops())
    assert [one.point for one in list_breakpoints(ctx)] == ["pre-stop"]
    change_labels(ctx, "shop", remove=["csys-breakpoint"])
    assert [one.point for one in list_breakpoints(ctx)] == ["pre-stop"], "who stands there stays until it is cleared"
    assert follow(ctx, cancel(ctx, view.id)).status == "canceled"
    assert follow(ctx, uninstall(ctx, "shop")).is_good
    assert list_kept(ctx) == []


def test_h46_points_are_cleared_as_they_are_given_and_stars_mean_any(ctx: RequestContext, tmp_path: Path) -> None:
    points = ("pre-create=db", "post-create=db", "pre-configure", "pre-start", "post-start")
    stops = ExecutionOptions(breakpoints=tuple(map(read_breakpoint, points)))
    assert follow(ctx, install(ctx, order(tmp_path), manner=stops), watcher=UntilItStops()).interrupted
    for wrong, code in (("create=web", "PL-C092"), ("post-*", "PL-C092"), ("cre ate", "PL-P047")):
        with pytest.raises(ProblemsError, match=code):
            follow(ctx, clear(ctx, wrong))
    let_go = [
        [(one.point, one.node) for one in follow(ctx, clear(ctx, text), watcher=UntilItStops())]
        for text in ("create", "*", "CONFIGURE=d*", "pre-*=db", "*=db", "*", "*", "*")
    ]
    assert let_go == [
        [(text, "db")] for text in ("pre-create", "post-create", "pre-configure", "pre-start", "post-start")
    ] + [[(text, "web")] for text in ("pre-configure", "pre-start", "post-start")]
    assert list_breakpoints(ctx) == []


def test_h46_what_deployments_keep_is_listed(ctx: RequestContext, tmp_path: Path) -> None:
    assert list_kept(ctx) == []
    assert follow(ctx, install(ctx, order(tmp_path))).is_good
    assert list_kept(ctx, "shop") == []
    add(ctx, "shop", ["pre-delete=web", "stop"], timeout_s=90)
    kept = [Kept("shop", ["pre-delete=web@90s", "pre-stop=*@90s"])]
    assert (list_kept(ctx), list_kept(ctx, "shop")) == (kept, kept)
    assert LocalClient(ctx.app).breakpoints.kept("shop") == kept


def test_h46_one_that_nobody_clears_in_time_has_failed_and_can_still_be_vouched_for(
    ctx: RequestContext, tmp_path: Path
) -> None:
    stops = ExecutionOptions(breakpoints=(Breakpoint("post-create", "db", timeout_s=0.01),))
    view = follow(ctx, install(ctx, order(tmp_path), manner=stops))
    assert (view.status, [failure.message for failure in view.failures]) == (
        "failed",
        ["breakpoint post-create was not cleared within 0.01 s"],
    )
    done = follow(ctx, complete(ctx, view.id, instances=[view.failures[0].instance], reason="seen"))
    assert done.is_good


def test_h46_labels_of_a_deployment_are_breakpoints_of_all_its_executions(ctx: RequestContext, tmp_path: Path) -> None:
    assert follow(ctx, install(ctx, order(tmp_path))).is_good
    change_labels(ctx, "shop", add=["csys-breakpoint=pre-delete=web"])
    row = ctx.store.deployment("shop")
    ctx.store.labels.add(row.number, [Label("csys-breakpoint", "was right once")])
    view = follow(ctx, uninstall(ctx, "shop"), watcher=UntilItStops())
    assert view.interrupted
    assert [one.point for one in list_breakpoints(ctx)] == ["pre-delete"]
    assert follow(ctx, cancel(ctx, view.id)).status == "canceled"
    assert list_breakpoints(ctx) == []


@pytest.mark.parametrize("stop", [Breakpoint("pre-create", "wbe"), Breakpoint("pre-craete", "web")])
def test_h46_a_breakpoint_at_which_nobody_can_stop_is_refused(
    ctx: RequestContext, tmp_path: Path, stop: Breakpoint
) -> None:
    with pytest.raises(ProblemsError, match="PL-P047") as error:
        follow(ctx, install(ctx, order(tmp_path), manner=ExecutionOptions(breakpoints=(stop,))))
    assert "did you mean" in error.value.problems[0].mend


def test_h28_an_install_over_its_time_says_so(ctx: RequestContext, tmp_path: Path) -> None:
    """It stops at a breakpoint that nobody clears, so nothing but its time ends it."""
    view = follow(
        ctx,
        install(ctx, order(tmp_path), manner=ExecutionOptions(breakpoints=(Breakpoint("pre-create"),), timeout_s=0.05)),
    )
    assert (view.status, view.reason.startswith("timed out after 0.05 s")) == ("canceled", True)


def test_h46_a_label_that_is_given_with_the_deployment_stops_its_first_install(
    ctx: RequestContext, tmp_path: Path
) -> None:
    asked = DeploymentSpec(str(tmp_path / "blueprint.yaml"), "shop", labels=["csys-breakpoint=create=d*@600s"])
    assert follow(ctx, install(ctx, asked), watcher=UntilItStops()).interrupted
    (found,) = list_breakpoints(ctx)
    assert (found.point, found.node) == ("pre-create", "db")
    assert found.message.startswith("paused at pre-create until it is cleared, at most 600 s")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pre-create=wbe", "did you mean 'web'"),
        ("pre- create", "write POINT"),
        ("before-create", "did you mean 'pre-create'? a point begins with pre- or post-;"),
        ("pre-after-things=db", "name an operation"),
    ],
)
def test_h46_a_label_at_which_nobody_could_stop_is_refused_with_the_deployment(
    ctx: RequestContext, tmp_path: Path, text: str, told: str
) -> None:
    asked = DeploymentSpec(str(tmp_path / "blueprint.yaml"), "shop", labels=[f"csys-breakpoint={text}"])
    for doing in (install, plan_install):
        with pytest.raises(ProblemsError, match="PL-P047") as error:
            doing(ctx, asked)
        assert told in error.value.problems[0].mend
    assert ctx.store.deployments() == []
    assert follow(ctx, install(ctx, order(tmp_path))).is_good
    with pytest.raises(ProblemsError, match="PL-P047") as error:
        change_labels(ctx, "shop", add=["good=yes", f"csys-breakpoint={text}"], remove=["good"])
    assert told in error.value.problems[0].mend
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT + f"labels: {{csys-breakpoint: {{values: ['{text}']}}}}\n")
    with pytest.raises(ProblemsError, match="PL-P047"):
        follow(ctx, update(ctx, UpdateOrder("shop", str(tmp_path / "blueprint.yaml"))))
    assert ctx.store.labels.of(1) == []


def test_h46_a_plan_shows_where_it_would_stop_and_counts_no_call_for_it(ctx: RequestContext, tmp_path: Path) -> None:
    plain = plan_install(ctx, order(tmp_path)).summary
    found = plan_install(ctx, order(tmp_path), manner=ExecutionOptions(breakpoints=(Breakpoint("pre-create", "web"),)))
    web = next(node for node in found.summary.nodes if node.name == "web")
    assert [(one.name, one.form, one.count) for one in web.operations][:1] == [("breakpoint pre-create", "stop", 1)]
    assert "breakpoint pre-create  stops until an operator clears it" in found.text
    assert (found.summary.calls, found.summary.phases[0].name) == (plain.calls, plain.phases[0].name)


def test_h46_a_plan_shows_the_breakpoints_of_its_deployment(ctx: RequestContext, tmp_path: Path) -> None:
    assert follow(ctx, install(ctx, order(tmp_path))).is_good
    assert add(ctx, "shop", ["pre-delete=web"]).added == 1
    assert "breakpoint pre-delete" in plan_uninstall(ctx, "shop").text
    with pytest.raises(ProblemsError, match="PL-P047"):
        plan_uninstall(ctx, "shop", manner=ExecutionOptions(breakpoints=(Breakpoint("pre-delete", "wbe"),)))
    assert remove(ctx, "shop", ["pre-delete"]).breakpoints == []
    assert "breakpoint" not in plan_uninstall(ctx, "shop").text


CHANGED = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins: {things: {executor: central_deployment_agent, install: false}}
inputs: {size: {default: 1}}
node_types: {Sized: {derived_from: cloudify.nodes.Root, properties: {size: {default: 0}}}}
node_templates:
  db: {type: Sized, properties: {size: {get_input: size}}, interfaces: {cloudify.interfaces.lifecycle: {update: things.things.run}}}
  web:
    type: cloudify.nodes.Root
    relationships: [{type: cloudify.relationships.depends_on, target: db}]
"""


@pytest.mark.parametrize("point", ["pre-update", "post-update"])
def test_h46_who_is_updated_stops_before_it_and_after_it_once(ctx: RequestContext, tmp_path: Path, point: str) -> None:
    (tmp_path / "blueprint.yaml").write_text(CHANGED)
    assert follow(ctx, install(ctx, order(tmp_path))).is_good
    wanted = UpdateOrder("shop", str(tmp_path / "blueprint.yaml"), {"size": 2})
    stops = ExecutionOptions(breakpoints=(Breakpoint(point),))
    assert (
        f"breakpoint {point}  stops until an operator clears it\n" in plan_update(ctx, wanted, manner=stops).text + "\n"
    )
    assert follow(ctx, update(ctx, wanted, manner=stops), watcher=UntilItStops()).interrupted
    assert [(one.point, one.node) for one in list_breakpoints(ctx)] == [(point, "db")]
    follow(ctx, clear(ctx, point))
    assert ctx.store.executions()[-1].status == "completed"


def test_h46_nodes_that_come_with_an_update_may_be_named(ctx: RequestContext, tmp_path: Path) -> None:
    assert follow(ctx, install(ctx, order(tmp_path))).is_good
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT + "  new: {type: cloudify.nodes.Root}\n")
    wanted = UpdateOrder("shop", str(tmp_path / "blueprint.yaml"))
    stops = ExecutionOptions(breakpoints=(Breakpoint("post-create", "new"),))
    assert follow(ctx, update(ctx, wanted, manner=stops), watcher=UntilItStops()).interrupted
    assert [(one.point, one.node) for one in list_breakpoints(ctx)] == [("post-create", "new")]
