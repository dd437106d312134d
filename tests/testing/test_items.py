"""Items and batches without an engine behave as those of an engine do."""

import pytest

from phaseline import NonRecoverableError, RecoverableError, operation
from phaseline.testing import Subject, call, fake_batch, fake_item


@operation(bulk=True)
def judge(batch):
    for item in batch:
        match item.properties["does"]:
            case "fail":
                item.fail("it is broken")
            case "retry":
                item.fail("not yet", retry=True)
            case "wait":
                item.again(30, "booting")
            case _:
                item.runtime_properties["seen"] = True
                item.log.info("seen")


def judged(*words: str):
    return fake_batch([fake_item(properties={"does": word}) for word in words])


def test_a_bulk_function_gets_all_items_and_each_has_its_outcome() -> None:
    done = call(judge, judged("nothing", "fail", "retry", "wait"))
    assert [one.outcome for one in done] == ["completed", "failed", "retry", "again"]
    assert [one.message for one in done] == ["", "it is broken", "not yet", "booting"]
    assert [one.after_s for one in done] == [None, None, None, 30.0]
    assert [one.is_good for one in done] == [True, False, False, True]


def test_what_was_logged_and_written_is_told_by_item() -> None:
    done = call(judge, judged("nothing", "fail"))
    assert done[0].lines == (("info", "seen"),)
    assert done[0].runtime_properties == {"seen": True}
    assert done[1].lines == ()


def test_a_function_that_is_called_directly_leaves_its_marks_on_the_batch() -> None:
    batch = judged("nothing", "fail")
    judge(batch)
    assert [one.outcome for one in batch.outcomes] == ["completed", "failed"]
    assert batch[0].outcome.runtime_properties == {"seen": True}
    assert batch[0].lines == (("info", "seen"),)
    assert [item.outcome.outcome for item in batch[0:2]] == ["completed", "failed"]


@operation
def one(item):
    item.data["calls"] = item.data.get("calls", 0) + 1
    if item.attempt == 0:
        item.again(1)
    item.runtime_properties["from"] = item.inputs["from"]


def test_a_function_for_single_items_finds_inputs_attempts_and_what_it_left() -> None:
    [first] = call(one, fake_item(inputs={"from": "me"}))
    assert (first.outcome, first.data) == ("again", {"calls": 1})
    [second] = call(one, fake_item(inputs={"from": "me"}, attempt=1, data=first.data))
    assert (second.outcome, second.data) == ("completed", None)
    assert second.runtime_properties == {"from": "me"}


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(ValueError("odd"), "retry"), (NonRecoverableError("odd"), "failed"), (RecoverableError("odd"), "retry")],
)
def test_what_a_function_raises_is_the_outcome_of_all_that_are_not_marked(error: Exception, outcome: str) -> None:
    @operation(bulk=True)
    def raises(batch):
        batch[0].complete()
        raise error

    done = call(raises, fake_batch(2))
    assert [one.outcome for one in done] == ["completed", outcome]
    assert done[1].message == "odd"
    assert done[1].error == type(error).__name__
    assert "raises" in done[1].traceback


def test_what_cannot_be_stored_fails_the_item() -> None:
    @operation
    def odd(item):
        item.runtime_properties["odd"] = object()

    [done] = call(odd, fake_item())
    assert done.outcome == "failed"


def test_an_async_function_is_run_to_its_end() -> None:
    @operation(bulk=True)
    async def later(batch):
        batch.complete()

    assert [one.outcome for one in call(later, fake_batch(2))] == ["completed"] * 2


def test_a_function_without_declaration_is_called_with_ctx() -> None:
    def greet(ctx, word):
        ctx.instance.runtime_properties["said"] = f"{word}, {ctx.node.properties['name']}"
        ctx.logger.info("said")
        return "done"

    [done] = call(greet, fake_item(node="guest", properties={"name": "ann"}, inputs={"word": "hello"}))
    assert done.outcome == "completed"
    assert done.runtime_properties == {"said": "hello, ann"}
    assert done.result == "done"
    assert ("info", "said") in done.lines


def test_a_relationship_operation_has_both_ends() -> None:
    @operation
    def establish(item):
        item.source.runtime_properties["url"] = f"db://{item.target.runtime_properties['ip']}"

    given = fake_item(node="web", target=Subject("db", runtime_properties={"ip": "10.0.0.1"}))
    [done] = call(establish, given)
    assert done.instance == "web_1"
    assert done.runtime_properties == {"url": "db://10.0.0.1"}


def test_the_side_decides_whose_operation_it_is() -> None:
    item = fake_item(node="web", target=Subject("db", properties={"size": 3}), side="target")
    assert (item.instance_id, item.properties["size"]) == ("db_1", 3)


def test_items_of_equal_properties_share_a_node_others_have_their_own() -> None:
    batch = fake_batch([fake_item(properties={"a": 1}), fake_item(properties={"a": 1}), fake_item(properties={"a": 2})])
    assert [item.instance_id for item in batch] == ["thing_1", "thing_2", "thing2_1"]


def test_intrinsic_functions_are_evaluated_as_in_an_engine() -> None:
    item = fake_item(properties={"port": 8080}, inputs={"port": {"get_property": ["SELF", "port"]}})
    assert item.inputs == {"port": 8080}


def test_tokens_differ_in_a_batch_and_are_equal_in_the_next_call() -> None:
    tokens = [item.token for item in fake_batch(3)]
    assert len(set(tokens)) == 3
    assert [item.token for item in fake_batch(3)] == tokens


def test_a_canceled_item_says_so() -> None:
    assert fake_item(is_canceled=True).is_canceled
    assert not fake_item().is_canceled


def test_a_batch_of_many_thousand_items_is_no_burden() -> None:
    assert len(call(judge, fake_batch(10_000, properties={"does": "nothing"}))) == 10_000
