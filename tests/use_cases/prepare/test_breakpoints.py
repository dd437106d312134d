"""H46 for resources, as users have it: given with the target or kept with the cluster, listed, cleared, refused."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.use_cases.commands.test_breakpoints import UntilItStops

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import Settings
from phaseline.app.watcher import NullWatcher
from phaseline.embedded.follow import follow
from phaseline.embedded.open_app import open_context
from phaseline.embedded.run_execution import open_engine, try_own
from phaseline.model.execution.breakpoints import Breakpoint, read_breakpoint
from phaseline.model.problems.problem import ProblemsError
from phaseline.use_cases.commands.breakpoints import add, clear, remove
from phaseline.use_cases.commands.install import install
from phaseline.use_cases.commands.resources.apply import apply
from phaseline.use_cases.commands.resources.phase_decisions import complete, retry, signal, wake
from phaseline.use_cases.commands.resources.set_target import cancel, target
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.prepare.options import ExecutionOptions
from phaseline.use_cases.prepare.plan_preview import plan_install
from phaseline.use_cases.queries.breakpoints import list_breakpoints
from phaseline.use_cases.queries.events.events_and_logs import events
from phaseline.use_cases.queries.resources.resource_waits import why
from phaseline.use_cases.queries.resources.resources import list_resources, show_resource
from phaseline.use_cases.queries.resources.selection import ResourceSelector

CODE = "def handle(handler):\n    for node in handler.getResources():\n        handler.setCompleted(node)\n"
STATES = {"Create": "Allocation", "Boot": "Initialization", "Drop": "Deallocation"}


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[RequestContext]:
    folder = tmp_path / "phases"
    folder.mkdir()
    for name, state in STATES.items():
        (folder / f"{name}.py").write_text(CODE)
        words = f"HandlesStates = {state}\nResourceType = Cloud.Node\nPhaseName = Acme.{name}\n"
        (folder / f"{name}.cfg").write_text(words)
    with open_context(Settings("memory:", plugin_folders=(str(folder),)), "a test") as found:
        yield found


def put(ctx: RequestContext, *names: str, breaks: tuple[Breakpoint, ...] = (), goal: str = "Started") -> None:
    going = {"TargetState": goal} if goal else {}
    records = [{"AdType": "Cloud.Node", "Name": name, **going} for name in names]
    follow(ctx, apply(ctx, (), cluster="night", records=records, breakpoints=breaks))


def run(ctx: RequestContext, until: Callable[[], object]) -> None:
    with ExitStack() as owned:
        lease = try_own(ctx, owned)
        assert lease is not None
        with open_engine(ctx, lease, NullWatcher()) as engine:
            engine.recover()
            engine.run(lambda: bool(until()))


def states(ctx: RequestContext) -> dict[str, str]:
    return {one.name: one.state for one in list_resources(ctx, ResourceSelector(is_all=True)).resources}


def stands(ctx: RequestContext) -> list[tuple[str, str, str]]:
    return [(one.point, one.instance, one.deployment) for one in list_breakpoints(ctx)]


def test_h46_resources_stop_where_it_was_said_with_their_target_and_go_on_when_cleared(ctx: RequestContext) -> None:
    put(ctx, "front", "data-1", breaks=(read_breakpoint("acme.create=data-*"),))
    run(ctx, lambda: stands(ctx) and states(ctx)["front"] == "Started")
    assert stands(ctx) == [("pre-acme.create", "data-1", "night")]
    with pytest.raises(ProblemsError, match="PL-C092"):
        follow(ctx, clear(ctx, "pre-acme.create", instances=["front"]))
    assert [one.instance for one in follow(ctx, clear(ctx, "pre-acme.create", deployment="night"))] == ["data-1"]
    run(ctx, lambda: set(states(ctx).values()) == {"Started"})
    assert stands(ctx) == []


SLEEPS = "def handle(handler):\n    for node in handler.getResources():\n        handler.setSleeping(node, 3600)\n"


def test_h46_who_stands_takes_no_signal_nor_is_woken_and_is_told_with_the_command(
    ctx: RequestContext, tmp_path: Path
) -> None:
    (tmp_path / "phases" / "Create.py").write_text(SLEEPS)
    put(ctx, "front", "data-1", breaks=(read_breakpoint("Acme.Create=data-*"),))
    run(ctx, lambda: stands(ctx) and why(ctx, "front").phases[0].status == "Sleeping")
    assert why(ctx, "front").phases[0].until_at > 0
    command = "phaseline breakpoints clear pre-Acme.Create data-1 -d night"
    both = ResourceSelector(names=("front", "data-1"))
    with pytest.raises(ProblemsError, match=r"PL-C093 data-1: .* is stopped at pre-Acme\.Create") as caught:
        follow(ctx, signal(ctx, both, data=1))
    assert [one.mend for one in caught.value.problems] == [f"clear it first: {command}"]
    with pytest.raises(ProblemsError, match="'data-1' is stopped at pre-Acme"):
        follow(ctx, signal(ctx, ResourceSelector(names=("data-1",)), data=1, phases=["breakpoint pre-Acme.Create"]))
    with pytest.raises(ProblemsError, match=r"PL-C041 data-1: .* is stopped at pre-Acme\.Create") as caught:
        follow(ctx, wake(ctx, both))
    assert [one.mend for one in caught.value.problems] == [f"clear it first: {command}"]
    with pytest.raises(ProblemsError, match="'data-1' is stopped at pre-Acme"):
        follow(ctx, wake(ctx, ResourceSelector(names=("data-1",)), phases=["breakpoint pre-Acme.Create"]))
    given = follow(ctx, signal(ctx, ResourceSelector(is_all=True), data=1))
    assert (given.resources, given.entries, given.phases) == (1, 1, ["Acme.Create"])
    with pytest.raises(ProblemsError, match="PL-C041 none of 2 resources sleeps"):
        follow(ctx, wake(ctx, ResourceSelector(is_all=True)))
    stop = why(ctx, "data-1").phases[0]
    assert (stop.status, stop.until_at, stop.mend) == ("Sleeping", 0, command)


def test_h46_who_stands_is_listed_with_what_is_its_own_and_as_canceled_when_it_is(ctx: RequestContext) -> None:
    put(ctx, "front", "data-1", breaks=tuple(map(read_breakpoint, ("Acme.Create=data-*", "post-acme.create=front"))))
    run(ctx, lambda: len(stands(ctx)) == 2)
    listed = {one.name: one for one in list_resources(ctx, ResourceSelector(is_all=True)).resources}
    assert [(one.phase, one.status, one.note) for one in listed["data-1"].entries] == [
        ("breakpoint pre-Acme.Create", "Sleeping", ""),
        ("Acme.Create", "Blocked", ""),
    ]
    assert [(one.phase, one.status) for one in listed["front"].entries] == [("breakpoint post-acme.create", "Sleeping")]
    assert {one.status for one in listed.values()} == {"Acquiring"}
    follow(ctx, cancel(ctx, ResourceSelector(names=("data-1",))))
    run(ctx, lambda: show_resource(ctx, "data-1").status == "Canceled")
    assert {one.name: one.status for one in list_resources(ctx, ResourceSelector(is_all=True)).resources} == {
        "front": "Acquiring",
        "data-1": "Canceled",
    }
    follow(ctx, target(ctx, "Started", ResourceSelector(names=("data-1",))))
    assert show_resource(ctx, "data-1").status == "Acquiring", "it is on its way again"


def test_h46_who_stands_no_longer_than_its_time_out_is_due_then(ctx: RequestContext) -> None:
    put(ctx, "data-1", breaks=(read_breakpoint("Acme.Create@3600s"),))
    run(ctx, lambda: stands(ctx))
    assert why(ctx, "data-1").phases[0].until_at > 0


def test_h46_breakpoints_of_a_cluster_hold_for_all_that_is_begun_from_then_on(ctx: RequestContext) -> None:
    put(ctx, "a")
    run(ctx, lambda: states(ctx)["a"] == "Started")
    assert add(ctx, "night", ["post-Acme.Create=b", "Acme.Drop"], timeout_s=600).breakpoints == [
        "post-Acme.Create=b@600s",
        "pre-Acme.Drop=*@600s",
    ]
    assert add(ctx, "night", ["Acme.Drop@600s"]).begun == [], "it was there already"
    put(ctx, "b")
    assert "reach-2" in add(ctx, "night", ["post-Acme.Boot=nobody-*"]).begun
    assert remove(ctx, "night", ["post-Acme.Boot"]).removed == 1
    follow(ctx, target(ctx, "Terminated", ResourceSelector(names=("a",))))
    run(ctx, lambda: len(stands(ctx)) == 2)
    assert sorted(stands(ctx)) == [("post-Acme.Create", "b", "night"), ("pre-Acme.Drop", "a", "night")]
    assert remove(ctx, "night", ["post-Acme.Create"]).breakpoints == ["pre-Acme.Drop=*@600s"]
    assert len(stands(ctx)) == 2, "who stands there stays"
    assert follow(ctx, cancel(ctx, ResourceSelector(is_all=True))).changed == 2
    run(ctx, lambda: not stands(ctx))


def test_h46_what_nobody_has_cleared_in_time_is_retried_or_vouched_for(ctx: RequestContext) -> None:
    put(ctx, "n-1", "n-2", breaks=(read_breakpoint("Acme.Create@0.01s"),))
    run(ctx, lambda: sum(one.count for one in list_resources(ctx, ResourceSelector(is_all=True)).failures) == 2)
    (group,) = list_resources(ctx, ResourceSelector(is_all=True)).failures
    assert group.message == "breakpoint pre-Acme.Create was not cleared within 0.01 s"
    follow(ctx, complete(ctx, ResourceSelector(names=("n-1",)), reason="looked at it"))
    follow(ctx, retry(ctx, ResourceSelector(names=("n-2",))))
    run(ctx, lambda: states(ctx)["n-1"] == "Started")


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("pre-Acme.Craete", "did you mean 'Acme.Create'? name a phase, such as Acme.Boot, Acme.Create, Acme.Drop"),
        ("pre-Acme.Create=dta-*", "did you mean 'data-1'? there are: data-1"),
    ],
)
def test_h46_at_a_phase_that_there_is_not_nobody_can_stop(ctx: RequestContext, text: str, mend: str) -> None:
    wrong = (read_breakpoint(text),)
    with pytest.raises(ProblemsError, match="PL-P047") as caught:
        put(ctx, "data-1", breaks=wrong)
    assert caught.value.problems[0].mend == mend
    put(ctx, "data-1", goal="")
    with pytest.raises(ProblemsError, match="PL-P047"):
        follow(ctx, target(ctx, "Started", ResourceSelector(names=("data-1",)), breakpoints=wrong))
    if "=" not in text:
        with pytest.raises(ProblemsError, match="PL-P047"):
            add(ctx, "night", [text])
    with pytest.raises(ProblemsError, match="PL-P047"):
        remove(ctx, "night", ["pre-Acme.Boot"])
    assert add(ctx, "night").breakpoints == []


def test_h46_at_a_phase_that_is_not_on_the_way_nobody_can_stop(ctx: RequestContext) -> None:
    drops = read_breakpoint("pre-Acme.Drop=data-*@12d")
    with pytest.raises(ProblemsError, match=r"PL-P047 .* on the way to 'Started'") as caught:
        put(ctx, "data-1", "front", breaks=(drops,))
    keeping = "to keep the breakpoint for resources with another target: phaseline breakpoints add 'pre-Acme.Drop=data-*@1036800s' -d CLUSTER"
    assert caught.value.problems[0].mend == f"called there: Acme.Create, Acme.Boot; {keeping}"
    with pytest.raises(ProblemsError, match="as long as they are given no target"):
        put(ctx, "data-1", breaks=(drops,), goal="")
    put(ctx, "data-1", goal="")
    assert add(ctx, "night", [str(drops)]).breakpoints == [str(drops)], "whoever is given another target stops there"
    with pytest.raises(ProblemsError, match=r"PL-P047 .* on the way to 'Terminated'"):
        follow(
            ctx, target(ctx, "Terminated", ResourceSelector(is_all=True), breakpoints=(read_breakpoint("acme.boot"),))
        )
    assert ctx.store.executions() == []


SERVERS = """
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
node_types: {lab.Server: {derived_from: cloudify.nodes.Root, resource_type: Cloud.Node, target_state: Started}}
node_templates: {web: {type: lab.Server}, db: {type: lab.Server}}
"""


def test_h46_nodes_on_paths_stop_at_phases_as_their_plan_says_and_their_events_tell_it(
    ctx: RequestContext, tmp_path: Path
) -> None:
    (tmp_path / "blueprint.yaml").write_text(SERVERS)
    asked = DeploymentSpec(str(tmp_path / "blueprint.yaml"), "shop")
    with pytest.raises(ProblemsError, match="PL-P047") as caught:
        follow(ctx, install(ctx, asked, manner=ExecutionOptions(breakpoints=(read_breakpoint("Acme.Craete"),))))
    assert "did you mean 'Acme.Create'" in caught.value.problems[0].mend
    stops = ExecutionOptions(breakpoints=(read_breakpoint("post-acme.create=web"),))
    assert (
        "breakpoint post-acme.create  stops until an operator clears it" in plan_install(ctx, asked, manner=stops).text
    )
    view = follow(ctx, install(ctx, asked, manner=stops), watcher=UntilItStops())
    assert [(one.point, one.node) for one in list_breakpoints(ctx)] == [("post-acme.create", "web")]
    follow(ctx, clear(ctx, "post-acme.create", deployment="shop"))
    assert ctx.store.execution(view.id).status == "completed"
    told = [line.text for line in events(ctx, view.id).lines if line.instance.startswith("web")]
    at = told.index("Node instance paused at post-acme.create until it is cleared")
    assert told[at + 1 :][:2] == [
        "Task completed by hand: cleared post-acme.create",
        "Node instance continues from post-acme.create",
    ]
