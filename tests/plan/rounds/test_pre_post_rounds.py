"""What surrounds an execution, with the real planner, scheduler and store: which calls come, in which order, and how it ends."""

from collections.abc import Sequence

import numpy as np
import pytest

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.execution.execution import History, Request, RetryPolicy, Verdict
from phaseline.model.execution.pre_post import DeploymentCallKind, PinnedHookClass, PrePost
from phaseline.model.graph.status import EntryStatus, ExecutionStatus
from phaseline.model.rows.rows import ExecutionRow, NewExecution
from phaseline.plan.rounds.pre_post_rounds import _Action
from phaseline.plan.transforms.pipeline import Asked
from phaseline.run.loop.engine import Engine
from phaseline.testing.builders import blueprint, node
from phaseline.testing.builders import topology as expand
from phaseline.testing.rehearsal import BEGINNING_MS, DIRECTOR, Stage
from phaseline.testing.scripted_executor import CallScript, Says, completes, fails

APPLICATION = blueprint(node("db", create="cloud.make"), node("web", create="cloud.make", start="cloud.up", to=["db"]))
A, B, C = (PinnedHookClass(name, f"house.hooks:{name}", "CREATE", ordinal=place) for place, name in enumerate("ABC"))
ABC = PrePost((A, B, C), (A, B, C))
ONCE = RetryPolicy(0, 0.0)


def outcomes(**said: Says) -> dict[str, tuple[Says, ...]]:
    """``pre_A=fails(...)`` as the table of a script."""
    table = {}
    for name, says in said.items():
        word, _, rest = name.partition("_")
        table[f"hooks.{word}.{rest}" if word in {"pre", "post", "undo"} else rest] = (says,)
    return table


def script(table: dict[str, tuple[Says, ...]], *crashes: int) -> CallScript:
    return CallScript(table, frozenset(crashes), BEGINNING_MS)


def called(done: CallScript, *, bare: bool = True) -> str:
    """The calls in order: a hook by its name behind ``<`` (pre), ``>`` (post), ``!`` (undo); the body's by their operation."""
    found = []
    for one in done.calls:
        if one.instances == ("rehearsal",):
            found.append(one.operation)
        elif not bare or not found or found[-1] != "body":
            found.append("body" if bare else one.operation)
    return " ".join(found)


def stage(around: PrePost = ABC) -> Stage:
    del around
    return Stage(expand(APPLICATION), {}, lambda _: Declaration(repeatable=True))


def hooks_of(one: Stage) -> list[tuple[str, str]]:
    """(phase, why) of every call of a hook, as the graphs of the last execution have them."""
    store, found = one.store, []
    execution = store.executions(one.deployment)[-1]
    for row in store.graphs(execution.number):
        graph = store.graph(row.id)
        for step in graph.steps:
            if step.phase.startswith("hooks."):
                found.append(
                    (step.phase.removeprefix("hooks."), DeploymentCallKind(int(graph.subject[step.first])).word)
                )
    return found


def play(
    around: PrePost,
    table: dict[str, tuple[Says, ...]],
    *crashes: int,
    take_back: bool = False,
    workflow: str = "install",
):
    one, played = stage(around), script(table, *crashes)
    request = Request(workflow, retries=ONCE, take_back=take_back)
    row = one.play(request, played, around)
    return one, played, row


def phases(one: Stage) -> list[str]:
    return [phase for phase, _ in hooks_of(one)]


PRE_ALL, POST_ALL = ["pre.A", "pre.B", "pre.C"], ["post.A", "post.B", "post.C"]


def test_classes_are_called_before_and_after_the_body_in_their_order() -> None:
    one, _, row = play(ABC, {})
    assert row.status.value == "completed"
    assert hooks_of(one) == [
        *((name, "before") for name in PRE_ALL),
        *((name, "completed") for name in POST_ALL),
    ]
    assert [graph.name for graph in one.store.graphs(row.number)] == ["pre hooks", "install", "post hooks"]


def test_h10_a_pre_that_fails_undoes_those_before_it_and_nothing_is_called() -> None:
    one, played, row = play(ABC, outcomes(pre_C=fails("no racks left")))
    assert (row.status.value, row.reason) == ("failed", "pre hook C: no racks left")
    assert hooks_of(one)[3:] == [("undo.B", "pre_failed"), ("undo.A", "pre_failed")]
    assert {name for call in played.calls for name in call.instances} == {"rehearsal"}
    assert set(one.store.states(one.deployment).tolist()) == {0}


def test_h12_undone_are_exactly_those_whose_pre_was_called() -> None:
    d = PinnedHookClass("D", "house.hooks:D", "CREATE", ordinal=400)
    only_post = PinnedHookClass("A", "house.hooks:A", "CREATE", has_pre=False)
    one, _, row = play(PrePost((only_post, B, C, d)), outcomes(pre_D=fails("no")))
    assert row.status.value == "failed"
    assert phases(one)[3:] == ["undo.C", "undo.B"]


def test_h13_the_first_pre_that_fails_undoes_nothing() -> None:
    one, _, row = play(ABC, outcomes(pre_A=fails("no")))
    assert row.reason == "pre hook A: no"
    assert phases(one) == PRE_ALL  # laid; B and C are skipped
    assert len(one.store.graphs(row.number)) == 1


def test_h14_an_undo_that_fails_does_not_keep_the_others_from_theirs() -> None:
    one, played, row = play(ABC, outcomes(pre_C=fails("no"), undo_B=fails("still held")))
    assert row.reason == "pre hook C: no; undo hook B: still held"
    assert [call.operation for call in played.calls] == ["A", "B", "C", "B", "A"]
    assert one.crashes == 0


def test_h15_a_critical_post_that_fails_makes_the_execution_fail_and_takes_nothing_back() -> None:
    one, played, row = play(ABC, outcomes(post_B=fails("no log")), take_back=True)
    assert (row.status.value, row.reason) == ("failed", "post hook B: no log")
    assert [call.operation for call in played.calls[-3:]] == ["A", "B", "C"]
    assert [word_of(number) for number in one.store.states(one.deployment)] == ["started", "started"]


def word_of(number: int) -> str:
    from phaseline.model.deployment.instance_states import InstanceState

    return InstanceState(number).word


def test_h16_a_post_that_is_not_critical_only_warns() -> None:
    mild = PinnedHookClass("B", "house.hooks:B", "CREATE", critical=False)
    _, _, row = play(PrePost((A, mild, C)), outcomes(post_B=fails("no log")))
    assert row.status.value == "completed"


def test_h17_when_the_body_fails_every_post_is_told() -> None:
    one, _, row = play(ABC, {"web.create": (fails("quota"),)})
    assert row.status.value == "failed"
    assert hooks_of(one)[3:] == [(name, "failed") for name in POST_ALL]


def test_h18_taking_back_is_an_action_of_its_own_after_the_posts_of_the_failed_one() -> None:
    one, _, row = play(ABC, {"web.create": (fails("quota"),)}, take_back=True)
    assert row.status.value == "failed"
    assert [graph.name for graph in one.store.graphs(row.number)] == [
        "pre hooks", "install", "post hooks after a failure", "pre hooks of rollback", "take back", "post hooks of rollback",
    ]  # fmt: skip
    assert hooks_of(one)[3:6] == [(name, "failed") for name in POST_ALL]
    assert hooks_of(one)[9:] == [(name, "completed") for name in POST_ALL]
    assert "was taken back" in row.reason


def test_a_retry_is_a_new_action_that_goes_on_where_it_failed() -> None:
    one, played, row = play(ABC, {"web.create": (fails("quota"), completes())})
    again = script({})
    row = one.retry(row, again)
    assert row.status.value == "completed"
    bodies = [
        f"{call.operation} {' '.join(call.instances)}" for call in again.calls if call.instances != ("rehearsal",)
    ]
    assert [line.split("_")[0] for line in bodies] == ["create web", "start web"], "what completed is not called again"
    assert [call.operation for call in again.calls[:3]] == ["A", "B", "C"]
    assert [call.operation for call in again.calls[-3:]] == ["A", "B", "C"]
    assert played


def test_a_retry_of_a_refused_execution_asks_every_class_again() -> None:
    one, _, row = play(ABC, outcomes(pre_C=fails("no")))
    row = one.retry(row, script({}))
    assert row.status.value == "completed"
    assert [graph.name for graph in one.store.graphs(row.number)][-3:] == ["pre hooks", "install", "post hooks"]


def test_a_retry_of_a_failed_post_does_not_call_the_body_again() -> None:
    one, _, row = play(ABC, outcomes(post_B=fails("no log")))
    again = script({})
    row = one.retry(row, again)
    assert row.status.value == "completed"
    assert [call.operation for call in again.calls] == ["A", "B", "C", "A", "B", "C"]


def calls_of(around: PrePost, table: dict[str, tuple[Says, ...]], *, take_back: bool) -> int:
    return len(play(around, table, take_back=take_back)[1].calls)


TABLES: Sequence[tuple[str, dict[str, tuple[Says, ...]]]] = [
    ("well", {}),
    ("pre fails", outcomes(pre_C=fails("no"))),
    ("body fails", {"web.create": (fails("quota"),)}),
    ("post fails", outcomes(post_B=fails("no"))),
]


@pytest.mark.parametrize("take_back", [False, True])
@pytest.mark.parametrize(("name", "table"), TABLES)
def test_h30_h31_a_crash_in_any_call_changes_nothing_but_that_it_is_made_again(
    name: str, table: dict[str, tuple[Says, ...]], take_back: bool
) -> None:
    plain, _, undisturbed = play(ABC, table, take_back=take_back)
    count = calls_of(ABC, table, take_back=take_back)
    for crash in range(1, count + 1):
        one, played, row = play(ABC, table, crash, take_back=take_back)
        assert one.crashes == 1, name
        assert (row.status, row.reason) == (undisturbed.status, undisturbed.reason), (name, crash)
        assert hooks_of(one) == hooks_of(plain), (name, crash)
        assert len(played.calls) == count + 1


def test_h8_without_classes_there_is_no_round_and_no_row() -> None:
    one, _, row = play(PrePost(), {})
    assert [graph.name for graph in one.store.graphs(row.number)] == ["install"]
    plain = stage()
    bare = plain.play(Request("install", retries=ONCE), script({}))
    assert not bare.request.is_surrounded


def test_h29_whenever_somebody_cancels_whoever_had_its_pre_has_one_post_or_undo() -> None:
    ends = set()
    for turns in range(1, 14):
        one = stage()
        row, names = canceled(one, ABC, after=turns)
        ends.add(row.status.value)
        done: dict[str, list[str]] = {"pre": [], "post": [], "undo": []}
        for graph in one.store.graphs(row.number):
            word = graph.name.partition(" ")[0]
            done.get(word, []).extend(completed_in(one, graph.id))
        assert sorted(done["post"] + done["undo"]) == sorted(done["pre"]), turns
        told = {why for name, why in names if name.startswith("post.")}
        assert told <= {"completed" if row.status.value == "completed" else "cancelled"}, turns
    assert ends == {"canceled", "completed"}


def completed_in(one: Stage, graph: int) -> list[str]:
    """Names of the classes whose calls in this graph completed."""
    columns, statuses = one.store.graph(graph), one.store.statuses(graph)
    steps = [step for step in columns.steps if step.phase.startswith("hooks.")]
    return [step.phase.rpartition(".")[2] for step in steps if statuses[step.first] == EntryStatus.COMPLETED]


def canceled(one: Stage, around: PrePost, *, after: int) -> tuple[ExecutionRow, list[tuple[str, str]]]:
    """An install that is canceled after so many turns; which hooks were called, and why."""
    count = 0

    def begin(engine: Engine) -> None:
        row = one.store.executions(one.deployment)[-1]
        engine.submit(row)
        turn = engine.turn

        def counted(**words: bool) -> None:
            nonlocal count
            count += 1
            if count == after and not engine.has_ended(row.number):
                engine.cancel(row.number)
            turn(**words)

        engine.turn = counted  # type: ignore[method-assign]  # the stage turns it

    new = NewExecution(one.deployment, Request("install", retries=ONCE), DIRECTOR, one.clock.now(), around)
    row = one.carry_on(one.store.create_execution(new), script({}), begin)
    return row, hooks_of(one)


@pytest.mark.parametrize("crash", [4, 5, 6])
def test_a_body_of_which_nobody_knows_what_happened_waits_for_a_person_before_any_post(crash: int) -> None:
    one = Stage(expand(APPLICATION), {}, lambda _: Declaration(repeatable=False))
    row = one.play(Request("install", retries=ONCE), script({}, crash), ABC)
    assert row.status is ExecutionStatus.ATTENTION
    assert phases(one) == ["pre.A", "pre.B", "pre.C"]


def test_no_post_is_owed_to_a_body_that_ended_without_anybody_knowing_how() -> None:
    action = _Action(
        (A,), Asked(expand(APPLICATION), Request("install"), History(np.zeros(2, np.uint8)), lambda _: Declaration())
    )
    found = Verdict(ExecutionStatus.ATTENTION, "of 1 operation it is not known whether it was carried out")
    assert action._closing(found, DeploymentCallKind.COMPLETED) is found
