"""What surrounds a workflow, as the reader of its plan sees it."""

from phaseline.model.packages.task_listing import TaskRow
from phaseline.plan.preview.pre_post_preview import ONLY_POST, HookForeseen, PrePostPreview, around_text

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
        TaskRow(
            "ntp#1", "pre_deployment", "pre_deployment/100", 100, "ntp", "1.0.0", "shell", "set the clock", "web", 2
        ),
        TaskRow("ntp#2", "post_deployment", "", 0, "ntp", "1.0.0", "shell", "", "*"),
        TaskRow(
            "ntp#3", "post_deployment", "post_deployment/50", 50, "ntp", "1.0.0", "shell", "tell", "*", 0, "it is off"
        ),
    ]
    around = PrePostPreview(hooks, tasks)
    assert around_text("install: 2 nodes", around).splitlines() == [
        "hooks:",
        "    quota   agrees",
        "    racks   warns: nearly full",
        '            decides for db × 1: {"rack": "r2"}',
        '            decides for web × 2: {"rack": "r1"}',
        "    freeze  would be refused: it is night",
        "    audit   is called after; has no preview",
        "",
        "tasks before:",
        "    ntp#1  ntp-1.0.0 (set the clock), pre_deployment/100, on web × 2",
        "",
        "install: 2 nodes",
        "",
        "tasks after:",
        "    ntp#2  ntp-1.0.0, deployment_tasks.yaml, on *",
        "    ntp#3  ntp-1.0.0 (tell), post_deployment/50; left out: it is off",
    ]
    assert [hook.name for hook in around.refusals] == ["freeze"]


def test_nothing_round_it_leaves_the_text_as_it_is():
    assert around_text("install", PrePostPreview()) == "install"
    assert PrePostPreview().refusals == []
