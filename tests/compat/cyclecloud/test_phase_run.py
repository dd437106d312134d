"""What marks, exceptions and messages of one run come to (rules R1 to R15)."""

from collections.abc import Mapping

import pytest
from tests.compat.cyclecloud.runs import ALL, EACH, Make, messages, runs, words

from phaseline.calls.batches.bulk_call import BulkCall
from phaseline.calls.batches.trial_call import Subject, Trial, TrialMember
from phaseline.calls.protocol.call import DeploymentLookup, InstanceContext, NodeContext
from phaseline.compat.cyclecloud.callers import PhaseCaller
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.blueprint.operation_declaration import as_phase
from phaseline.model.graph.status import OutcomeKind

__all__ = ["runs"]


def test_p17_completed_one_by_one_and_attributes_are_stored_without_any_save(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n"
        "    for node in handler.getResources():\n"
        "        node.setString('InstanceId', 'i-' + node.getAsString('Name'))\n"
        "        handler.setCompleted(node)\n"
    )
    answer = world.run(*ALL)
    assert words(answer) == ["completed"] * 4
    assert {change.instance: change.written for change in answer.documents} == {
        number: {("InstanceId",): f"i-vm_{number + 1}"} for number in ALL
    }
    assert not answer.remarks
    assert len(answer.reports) == 1, "everything of a run is stored together (R10)"


@pytest.mark.parametrize(
    "given",
    ["handler.getResources()", "handler.resources[:4]", "(r for r in handler.resources)", "list(handler.resources)"],
)
def test_p18_completed_all_at_once(runs: Make, given: str) -> None:
    answer = runs(f"def handle(handler):\n    handler.setCompleted({given})\n").run(*ALL)
    assert words(answer) == ["completed"] * 4
    assert not answer.documents


def test_p19_without_a_mark_a_resource_sleeps_for_the_delay_of_its_phase(runs: Make) -> None:
    answer = runs("def handle(handler): pass\n").run(0, 1)
    assert words(answer) == ["again", "again"]
    assert answer.delays == {0: -1, 1: -1}, "the policy's interval, 15 s if the definition says nothing"


def test_p23_each_may_have_a_delay_of_its_own(runs: Make) -> None:
    world = runs(
        "from datetime import timedelta\n"
        "def handle(handler):\n"
        "    first, second, third, fourth = handler.getResources()\n"
        "    handler.setSleeping(first, delay=5)\n"
        "    handler.setSleepDelay(30)\n"
        "    handler.setSleeping(second, timedelta(minutes=1), 'booting')\n"
        "    handler.setSleeping(third)\n"
    )
    answer = world.run(*ALL)
    assert answer.delays == {0: 5_000, 1: 60_000, 2: 30_000, 3: 30_000}
    assert messages(answer) == {1: "booting"}


def test_p24_a_failed_one_has_its_message(runs: Make) -> None:
    answer = runs("def handle(handler): handler.setFailed(handler.resources[0], 'quota')\n").run(0, 1)
    assert words(answer) == ["failed", "again"]
    assert messages(answer) == {0: "quota"}


def test_a_failure_without_a_message_says_so(runs: Make) -> None:
    answer = runs("def handle(handler): handler.set_failed(handler.get_resources(), None)\n").run(0)
    assert messages(answer) == {0: "failed without a message"}


def test_p25_an_exception_fails_all_but_those_completed_before(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n    handler.setCompleted(handler.resources[:2])\n    raise RuntimeError('boom')\n"
    )
    answer = world.run(*ALL)
    assert words(answer) == ["completed", "completed", "failed", "failed"]
    assert messages(answer) == {2: "RuntimeError: boom", 3: "RuntimeError: boom"}
    assert answer.remarks[2].error["type"] == "RuntimeError"
    assert answer.remarks[2].error["traceback"].count("File ") == 1, (
        "the traceback goes to the log, and shows the plugin"
    )


def test_p26_an_exception_before_any_mark_fails_all(runs: Make) -> None:
    answer = runs("def handle(handler): raise KeyError()\n").run(0, 1)
    assert words(answer) == ["failed", "failed"]
    assert messages(answer) == {0: "KeyError", 1: "KeyError"}


def test_p27_a_message_of_its_own_is_kept_over_that_of_the_exception(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n"
        "    handler.setFailed(handler.resources[0], 'no such image')\n"
        "    handler.setMessage(handler.resources[1], 'half way')\n"
        "    raise OSError('gone')\n"
    )
    answer = world.run(0, 1)
    assert messages(answer) == {0: "no such image", 1: "OSError: gone"}


def test_p28_put_to_sleep_and_then_an_exception_is_failed(runs: Make) -> None:
    world = runs("def handle(handler):\n    handler.setSleeping(handler.resources, 5)\n    raise ValueError('x')\n")
    assert words(world.run(0)) == ["failed"]


def test_p29_what_was_written_before_an_exception_is_stored(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n"
        "    node = handler.resources[0]\n"
        "    node.setString('InstanceId', 'i-1')\n"
        "    handler.getResourcePhaseData(node).setString('OperationId', 'op-1')\n"
        "    raise ValueError('x')\n"
    )
    assert words(world.run(0)) == ["failed"]
    assert world.document(0)["InstanceId"] == "i-1"
    assert world.data(0) == {"OperationId": "op-1"}


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        ("import sys; sys.exit(1)", "SystemExit: 1"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("raise MemoryError('all of it')", "MemoryError: all of it"),
        ("raise Own('mine')", "Own: mine"),
    ],
)
def test_p30_whatever_leaves_the_call_fails_its_resources_and_nothing_else(
    runs: Make, raised: str, message: str
) -> None:
    text = f"class Own(BaseException): pass\ndef handle(handler):\n    {raised}\n"
    world = runs(text)
    assert messages(world.run(0)) == {0: message}
    assert words(world.run(1)) == ["failed"], "the executor lives"


@pytest.mark.parametrize("raised", ["raise GeneratorExit", "raise Own('mine')"])
def test_p30_of_a_coroutine_too(runs: Make, raised: str) -> None:
    if "Generator" in raised:
        raised = "raise SystemExit(2)"
    world = runs(f"class Own(BaseException): pass\nasync def handle(handler):\n    {raised}\n")
    assert words(world.run(0)) == ["failed"]
    assert words(world.run(1)) == ["failed"]


@pytest.mark.parametrize(
    "order", [("setCompleted(r)", "setFailed(r, 'no')"), ("setFailed(r, 'no')", "setCompleted(r)")]
)
def test_p31_failure_wins_whatever_the_order(runs: Make, order: tuple[str, str]) -> None:
    lines = "".join(f"    handler.{mark}\n" for mark in order)
    answer = runs(f"def handle(handler):\n    r = handler.resources[0]\n{lines}").run(0)
    assert words(answer) == ["failed"]
    assert messages(answer) == {0: "no"}
    assert answer.lines == ["marked as completed and as failed in one run: it has failed"]


def test_sleeping_takes_a_completion_back_but_not_a_failure(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n"
        "    a, b = handler.resources\n"
        "    handler.setCompleted(handler.resources)\n"
        "    handler.setFailed(b, 'no')\n"
        "    handler.setSleeping(handler.resources, 3)\n"
    )
    assert words(world.run(0, 1)) == ["again", "failed"]


def test_p32_marking_a_resource_of_another_run_raises_before_anything_is_changed(runs: Make) -> None:
    world = runs(
        "seen = []\n"
        "def handle(handler):\n"
        "    if not seen:\n"
        "        seen.extend(handler.resources)\n"
        "        handler.setCompleted(seen)\n"
        "        return\n"
        "    handler.setCompleted([handler.resources[0], seen[0]])\n"
    )
    assert words(world.run(0)) == ["completed"]
    answer = world.run(1)
    assert words(answer) == ["failed"], "the list was looked at as a whole first: nothing of it was marked"
    (message,) = messages(answer).values()
    assert message.startswith("NotInRun: PL-O030 ")
    assert "cloud.py:7:1: setCompleted() was given 'vm_1', which is no resource of this run" in message


@pytest.mark.parametrize("given", ["None", "'vm_1'", "3", "handler.resources[0].copy()", "[handler]"])
def test_p32_what_is_no_resource_of_the_run_cannot_be_marked(runs: Make, given: str) -> None:
    answer = runs(f"def handle(handler): handler.setFailed({given}, 'x')\n").run(0)
    assert "PL-O030" in messages(answer)[0]


def test_x1_a_temporary_error_lets_the_unmarked_sleep(runs: Make) -> None:
    world = runs(
        "import phaseline\n"
        "def handle(handler):\n"
        "    handler.setCompleted(handler.resources[0])\n"
        "    handler.setFailed(handler.resources[1], 'no')\n"
        "    handler.setSleeping(handler.resources[2], 4, 'booting')\n"
        "    raise phaseline.TemporaryError('throttled', delay=90)\n"
    )
    answer = world.run(*ALL)
    assert words(answer) == ["completed", "failed", "again", "again"]
    assert answer.delays == {0: -1, 1: -1, 2: 4_000, 3: 90_000}
    assert messages(answer) == {1: "no", 2: "booting", 3: "throttled"}


def test_x1_a_temporary_error_without_a_delay_takes_that_of_the_run(runs: Make) -> None:
    world = runs(
        "from phaseline import TemporaryError\n"
        "def handle(handler):\n    handler.setSleepDelay(7)\n    raise TemporaryError\n"
    )
    answer = world.run(0)
    assert (words(answer), answer.delays, messages(answer)) == (["again"], {0: 7_000}, {})


def test_x1_a_permanent_error_fails_the_unmarked(runs: Make) -> None:
    answer = runs("import phaseline\ndef handle(handler): raise phaseline.PermanentError('no such size')\n").run(0)
    assert (words(answer), messages(answer)) == (["failed"], {0: "PermanentError: no such size"})


def test_r14_a_return_value_means_nothing_and_is_told_of_once(runs: Make) -> None:
    world = runs("def handle(handler):\n    handler.setCompleted(handler.resources)\n    return True\n")
    first, second = world.run(0, 1), world.run(2)
    assert words(first) == ["completed", "completed"]
    assert len(first.lines) == 1
    assert first.lines[0].startswith("the plugin returned True")
    assert not second.lines


def test_r9_the_last_message_counts_and_completion_takes_that_of_progress_away(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n"
        "    a, b = handler.resources\n"
        "    handler.setMessage(handler.resources, 'step 1')\n"
        "    handler.setMessage(a, 'step 2')\n"
        "    handler.setCompleted(b)\n"
    )
    answer = world.run(0, 1)
    assert messages(answer) == {0: "step 2", 1: ""}


def test_a_message_stays_while_a_resource_is_pending_and_goes_with_its_completion(runs: Make) -> None:
    world = runs(
        "calls = []\n"
        "def handle(handler):\n"
        "    calls.append(1)\n"
        "    if len(calls) == 1: handler.setSleeping(handler.resources, message='copying')\n"
        "    if len(calls) == 2:\n"
        "        assert handler.getResourcePhaseData(handler.resources[0]).getAsString('Message') == 'copying'\n"
        "    if len(calls) == 3: handler.setCompleted(handler.resources)\n"
    )
    told = [messages(world.run(0)) for _ in range(3)]
    assert told == [{0: "copying"}, {0: "copying"}, {0: ""}]


def test_pd54_a_long_message_is_cut_and_the_log_has_all_of_it(runs: Make) -> None:
    answer = runs("def handle(handler): handler.setFailed(handler.resources, 'x' * 6000)\n").run(0)
    assert len(messages(answer)[0]) < 4_200
    assert answer.lines == ["x" * 6000]


def test_x14_a_coroutine_is_awaited(runs: Make) -> None:
    world = runs(
        "import asyncio\n"
        "async def handle(handler):\n"
        "    await asyncio.sleep(0)\n"
        "    handler.setCompleted(handler.resources[0])\n"
        "    raise ValueError('boom')\n"
    )
    answer = world.run(0, 1)
    assert words(answer) == ["completed", "failed"]
    assert messages(answer) == {1: "ValueError: boom"}


ONE = (
    "from phaseline import TemporaryError\n"
    "{kind} handle_one(resource, data):\n"
    "    data['Seen'] = (data.getAsInteger('Seen') or 0) + 1\n"
    "    name = resource['Name']\n"
    "    if name == 'vm_2': raise TemporaryError('booting', 5)\n"
    "    if name == 'vm_3': raise ValueError('no')\n"
    "    resource.setString('Ip', '10.0.0.' + name[-1])\n"
)


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize("policy", [EACH, None])
def test_x14_a_function_for_one_resource_is_called_for_each(runs: Make, kind: str, policy: object) -> None:
    fields = {} if policy is None else {"policy": policy}
    world = runs(ONE.format(kind=kind), "handle_one", **fields)
    answer = world.run(0, 1, 2)
    assert words(answer) == ["completed", "again", "failed"]
    assert answer.delays[1] == 5_000
    assert messages(answer) == {1: "booting", 2: "ValueError: no"}
    assert world.document(0)["Ip"] == "10.0.0.1"
    assert [world.data(number) for number in (0, 1, 2)] == [{"Seen": 1}] * 3
    world.run(1)
    assert world.data(1) == {"Seen": 2}


def test_a_phase_in_a_lane_of_single_calls_gets_a_handler_of_one(runs: Make) -> None:
    text = (
        "def handle(handler):\n    assert handler.resources.size() == 1\n    handler.setCompleted(handler.resources)\n"
    )
    assert words(runs(text, policy=EACH).run(*ALL)) == ["completed"] * 4


def test_p100_each_resource_sees_its_own_data_whoever_comes_along(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n"
        "    for node in handler.resources:\n"
        "        data = handler.getResourcePhaseData(node)\n"
        "        assert data.get('Owner', node['Name']) == node['Name']\n"
        "        data['Owner'] = node['Name']\n"
        "        data['Calls'] = data.get('Calls', 0) + 1\n"
        "        if node['Name'] != 'vm_1' or data['Calls'] == 3: handler.setCompleted(node)\n"
    )
    told = [words(world.run(*members)) for members in ((0, 1), (2, 0), (0,))]
    assert told == [["again", "completed"], ["completed", "again"], ["completed"]]
    assert [world.data(number)["Calls"] for number in (0, 1, 2)] == [3, 1, 1]


def test_a_plugin_may_work_on_its_resources_with_threads_of_its_own(runs: Make) -> None:
    world = runs(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def handle(handler):\n"
        "    def one(place):\n"
        "        node = handler.resources[place % 4]\n"
        "        node['Place%d' % place] = place\n"
        "        handler.getResourcePhaseData(node)['Place%d' % place] = place\n"
        "        handler.setCompleted(node)\n"
        "    with ThreadPoolExecutor(8) as pool: list(pool.map(one, range(64)))\n"
    )
    assert words(world.run(*ALL)) == ["completed"] * 4
    assert [len(world.document(number)) for number in ALL] == [17] * 4
    assert [len(world.data(number)) for number in ALL] == [16] * 4


class Vanishing:
    """A world in which an instance is gone when its document is asked for again."""

    def __init__(self, world: DeploymentLookup) -> None:
        self.world = world
        self.asked = 0

    def document(self, instance: InstanceContext) -> Mapping[str, Value]:
        self.asked += 1
        if self.asked > 1:
            raise KeyError(instance.id)
        return {}

    def node(self, instance: InstanceContext) -> NodeContext:
        return self.world.node(instance)

    def state(self, instance: InstanceContext) -> str:
        return "gone"


def test_r13_what_cannot_be_stored_fails_its_own_resource_alone() -> None:
    trial = Trial([TrialMember(Subject("vm")), TrialMember(Subject("vm"))])
    view = trial.call_at(0).owner
    view.world = Vanishing(view.world)

    def handle(handler) -> None:
        for node in handler.resources:
            node["Size"] = 1
        handler.setCompleted(handler.resources)

    run = PhaseCaller().gather(BulkCall(2, trial.call_at, trial.say))
    run.code(as_phase(handle))()
    settled = run.settle(None)
    assert [settled.outcome_at(place).kind for place in (0, 1)] == [OutcomeKind.FAILED, OutcomeKind.COMPLETED]
    assert settled.outcome_at(0).message == "KeyError: 'vm_1'"
