"""What surrounds a workflow, as the reader of its plan sees it."""

from phaseline.plan.surroundings import ONLY_POST, HookForeseen, Surroundings, TaskForeseen, around_text

DECIDED = {"web_a": {"rack": "r1"}, "web_b": {"rack": "r1"}, "db_a": {"rack": "r2"}}
NODES = {"web_a": "web", "web_b": "web", "db_a": "db"}


def test_hooks_and_tasks_stand_before_and_after_the_body():
    hooks = [
        HookForeseen("quota", says="agrees"),
        HookForeseen("racks", says="agrees", warnings=["nearly full"], decisions=DECIDED, nodes=NODES),
        HookForeseen("freeze", says="refuses", message="it is night"),
        HookForeseen("audit", called=ONLY_POST),
    ]
    tasks = [
        TaskForeseen("set the clock", "ntp", "pre_deployment/100", is_before=True),
        TaskForeseen("tell the board", "ntp", "post_deployment/50", is_before=False, skipped="its condition is false"),
    ]
    around = Surroundings(hooks, tasks)
    assert around_text("install: 2 nodes", around).splitlines() == [
        "hooks:",
        "    quota   agrees",
        "    racks   warns: nearly full",
        '            decides for db × 1: {"rack": "r2"}',
        '            decides for web × 2: {"rack": "r1"}',
        "    freeze  would be refused by freeze: it is night",
        "    audit   is called after; says nothing beforehand",
        "",
        "tasks before:",
        "    set the clock  ntp, pre_deployment/100",
        "",
        "install: 2 nodes",
        "",
        "tasks after:",
        "    tell the board  ntp, post_deployment/50; left out: its condition is false",
    ]
    assert [hook.name for hook in around.refusals] == ["freeze"]


def test_nothing_round_it_leaves_the_text_as_it_is():
    assert around_text("install", Surroundings()) == "install"
    assert Surroundings().refusals == []
