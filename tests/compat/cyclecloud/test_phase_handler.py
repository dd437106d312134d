"""What the handler tells and does besides taking marks."""

import pytest
from tests.compat.cyclecloud.runs import CREATE, Make, messages, runs, words

from phaseline.compat.cyclecloud.phase_handler import PhaseHandler

__all__ = ["runs"]

NAMES = {
    "getResources": "get_resources",
    "getResourcePhaseData": "get_resource_phase_data",
    "setCompleted": "set_completed",
    "setFailed": "set_failed",
    "setSleeping": "set_sleeping",
    "setSleepDelay": "set_sleep_delay",
    "setMessage": "set_message",
    "isCanceling": "is_canceling",
    "getPhaseName": "get_phase_name",
    "getState": "get_state",
    "getPhase": "get_phase",
    "operationToken": "operation_token",
}


def test_every_method_has_both_names() -> None:
    assert all(getattr(PhaseHandler, own) is getattr(PhaseHandler, other) for own, other in NAMES.items())


def test_it_says_which_phase_and_state_it_is_about(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n"
        f"    assert handler.getPhaseName() == {CREATE!r}\n"
        "    phase = handler.getPhase()\n"
        "    assert phase['Name'] == phase['Description'] == handler.get_phase_name()\n"
        "    assert phase.type_name == 'Cloud.Phase'\n"
        "    assert handler.getState() == handler.resources[0]['State'] == 'uninitialized'\n"
        "    data = handler.getResourcePhaseData(handler.resources[0])\n"
        "    assert data['Status'] == 'Running' and data['Attempt'] == 0 and data['State'] == handler.getState()\n"
        "    handler.setCompleted(handler.resources)\n"
        "    phase['Color'] = 'blue'\n"
    )
    assert messages(world.run(0)) == {}, "it was completed before the phase's record refused to be written"


def test_x4_a_checkpoint_is_stored_while_the_call_goes_on(runs: Make) -> None:
    world = runs(
        "import threading\nopened = threading.Event()\n"
        "def handle(handler):\n"
        "    node, other = handler.resources\n"
        "    data = handler.getResourcePhaseData(node)\n"
        "    data['Token'] = handler.operationToken(node)\n"
        "    other['Size'] = 1\n"
        "    handler.save(node)\n"
        "    while not handler.isCanceling(node): opened.wait(0.01)\n"
        "    node['InstanceId'] = 'i-1'\n"
        "    handler.save()\n"
        "    handler.setCompleted(handler.resources)\n"
    )
    batch = world.batch(0, 1)
    world.executor.submit(batch)
    saved = world.wait_for_document()
    assert not saved.kinds
    assert [change.instance for change in saved.documents] == [0]
    assert list(world.data(0)) == ["Token"]
    world.executor.cancel(batch.id, batch.segments[0].positions, kill=False)
    answer = world.wait(2, saved)
    assert words(answer) == ["completed"] * 2
    assert [change.written for change in answer.documents[1:]] == [{("InstanceId",): "i-1"}, {("Size",): 1}]


def test_x4_the_token_is_equal_in_all_calls_of_an_entry(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n"
        "    for node in handler.resources:\n"
        "        data = handler.getResourcePhaseData(node)\n"
        "        token = handler.operationToken(node)\n"
        "        assert data.get('Token', token) == token\n"
        "        data['Token'] = token\n"
    )
    world.run(0, 1)
    assert words(world.run(0)) == ["again"]
    assert world.data(0) != world.data(1)


def test_p36_a_message_is_seen_while_the_run_goes_on(runs: Make) -> None:
    world = runs(
        "import threading\nopened = threading.Event()\n"
        "def handle(handler):\n"
        "    handler.setMessage(handler.resources, 'step 1')\n"
        "    handler.log('info', 'told', handler.resources[0])\n"
        "    while not handler.isCanceling(handler.resources[0]): opened.wait(0.01)\n"
        "    handler.setCompleted(handler.resources)\n"
    )
    batch = world.batch(0, 1)
    world.executor.submit(batch)
    begun = world.wait_for_line("told")
    assert messages(begun) == {0: "step 1", 1: "step 1"}
    assert not begun.kinds
    world.executor.cancel(batch.id, batch.segments[0].positions, kill=False)
    assert messages(world.wait(2, begun)) == {0: "", 1: ""}


def test_it_keeps_lines_with_the_run_and_with_resources(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n"
        "    handler.log('INFO', 'all')\n"
        "    handler.log('warning', 'one', handler.resources[1])\n"
        "    handler.setCompleted(handler.resources)\n"
    )
    answer = world.run(0, 1)
    assert [(line.level, line.text, line.instance) for line in answer.logs] == [
        ("info", "all", -1),
        ("warning", "one", 1),
    ]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("setSleeping(handler.resources, -5)", "PL-O032"),
        ("setSleeping(handler.resources, '5')", "PL-O032"),
        ("setSleepDelay(31 * 24 * 3600)", "PL-O032"),
        ("setSleepDelay(float('nan'))", "PL-O032"),
        ("log('loud', 'x')", "PL-O033"),
        ("isCanceling('vm_1')", "PL-O030"),
        ("save('vm_1')", "PL-O030"),
        ("operationToken(None)", "PL-O030"),
        ("getResourcePhaseData(3)", "PL-O030"),
    ],
)
def test_misuse_says_what_and_where(runs: Make, call: str, said: str) -> None:
    answer = runs(f"def handle(handler):\n    handler.{call}\n").run(0)
    assert words(answer) == ["failed"]
    assert said in messages(answer)[0]
    assert "cloud.py:2:1: " in messages(answer)[0]


LATE = (
    "kept = []\n"
    "def handle(handler):\n"
    "    if not kept:\n"
    "        kept.extend([handler, handler.resources[0], handler.getResourcePhaseData(handler.resources[0])])\n"
    "        kept[1]['Size'] = 1\n"
    "        return\n"
    "    late, node, data = kept\n"
    "    {}\n"
)


@pytest.mark.parametrize(
    "late",
    [
        "late.setCompleted(node)",
        "late.setFailed(node, 'x')",
        "late.setSleeping(node)",
        "late.setSleepDelay(3)",
        "late.setMessage(node, 'x')",
        "late.getResources()",
        "late.getResourcePhaseData(node)",
        "late.isCanceling(node)",
        "late.log('info', 'x')",
        "late.save()",
        "late.operationToken(node)",
    ],
)
def test_after_its_run_it_refuses(runs: Make, late: str) -> None:
    world = runs(LATE.format(late))
    world.run(0)
    (message,) = messages(world.run(0)).values()
    assert message.startswith("RunFinished: PL-O031 ")


@pytest.mark.parametrize("late", ["node['Size'] = 2", "data['Size'] = 2"])
def test_after_its_run_a_resource_cannot_be_written(runs: Make, late: str) -> None:
    world = runs(LATE.format(late))
    world.run(0)
    (message,) = messages(world.run(0)).values()
    assert message.startswith("ReadOnlyError: ")


def test_p97_the_cache_lives_across_runs_of_its_phase(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n"
        "    found = handler.cache.get('images')\n"
        "    if found is None: handler.cache.set('images', ['a'], ttl_s=60)\n"
        "    else: handler.resources[0]['Images'] = found\n"
        "    handler.setCompleted(handler.resources)\n"
    )
    world.run(0)
    world.run(1)
    assert world.document(0) == {}
    assert world.document(1) == {"Images": ["a"]}
