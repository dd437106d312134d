"""Functions of Cloudify plugins: how they are called (C2) and what comes of it (W2)."""

from typing import Any

import pytest
from tests.compat.cloudify.builders import node_call, said, stored

from phaseline.compat.cloudify.callers import FunctionCaller
from phaseline.model.graph.status import OutcomeKind

call_function = FunctionCaller().call

RETRY, FAILED, COMPLETED = OutcomeKind.RETRY, OutcomeKind.FAILED, OutcomeKind.COMPLETED


def outcome_of_raising(error: BaseException) -> Any:
    def operation(**kwargs: Any) -> None:
        raise error

    return call_function(node_call(operation))


def test_c2_function_gets_ctx_and_inputs_as_keywords() -> None:
    seen = {}

    def create(ctx: Any, port: int, **kwargs: Any) -> None:
        seen.update(kwargs, port=port, instance=ctx.instance.id)

    outcome = call_function(node_call(create, inputs={"port": 80, "name": "x"}))
    assert outcome.kind is COMPLETED
    assert seen == {"port": 80, "name": "x", "instance": "web_1"}


def test_c2_ctx_and_parameters_are_set_for_the_thread_during_the_call_only() -> None:
    from cloudify import ctx, ctx_parameters
    from cloudify.state import NotInContext

    def create(**kwargs: Any) -> Any:
        return [ctx.instance.id, ctx_parameters.port, ctx_parameters["port"], dict(ctx_parameters)]

    outcome = call_function(node_call(create, inputs={"port": 80}))
    assert outcome.result == ["web_1", 80, 80, {"port": 80}]
    with pytest.raises(NotInContext):
        _ = ctx.instance
    with pytest.raises(NotInContext):
        _ = ctx_parameters.port


def test_c2_context_is_cleared_after_an_exception() -> None:
    from cloudify.state import NotInContext, current_ctx

    outcome_of_raising(ValueError("x"))
    with pytest.raises(NotInContext):
        current_ctx.get_ctx()


def test_c2_ctx_of_the_thread_is_the_context_for_isinstance_too() -> None:
    from cloudify import ctx
    from cloudify.context import CloudifyContext

    outcome = call_function(node_call(lambda **_: isinstance(ctx, CloudifyContext)))
    assert outcome.result is True


@pytest.mark.parametrize(
    ("returned", "kept"),
    [
        (None, None),
        ("text", "text"),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        (object(), None),
        ([object()], None),
        (False, False),
    ],
)
def test_c2_result_is_kept_if_json_can_say_it(returned: Any, kept: Any) -> None:
    assert call_function(node_call(lambda **_: returned)).result == kept


def test_c2_runtime_properties_are_stored_after_an_exception() -> None:
    def create(ctx: Any, **kwargs: Any) -> None:
        ctx.instance.runtime_properties["machine"] = "i-17"
        raise RuntimeError("then it broke")

    call = node_call(create)
    outcome = call_function(call)
    assert outcome.kind is RETRY
    assert stored(call.instance) == {"machine": "i-17"}


def test_c2_runtime_properties_of_source_and_target_are_stored() -> None:
    def establish(ctx: Any, **kwargs: Any) -> None:
        ctx.source.instance.runtime_properties["peer"] = ctx.target.instance.id
        ctx.target.instance.runtime_properties["clients"] = [ctx.source.instance.id]

    call = node_call(establish, pair=("web_1", "db_1"))
    assert call_function(call).kind is COMPLETED
    assert stored(call.source) == {"peer": "db_1"}
    assert stored(call.target) == {"clients": ["web_1"]}


def test_c2_untouched_runtime_properties_cost_no_reading() -> None:
    call = node_call(lambda **_: None)
    call_function(call)
    assert call.instance is not None
    assert call.instance.before is None


def test_w2_operation_retry_asks_to_be_called_again() -> None:
    def create(ctx: Any, **kwargs: Any) -> str:
        return ctx.operation.retry(message="not yet", retry_after=7)

    outcome = call_function(node_call(create))
    assert (outcome.kind, outcome.delay_ms) == (RETRY, 7000)
    assert outcome.message.startswith("not yet")


def test_w2_operation_retry_without_a_time_waits_for_the_interval() -> None:
    outcome = call_function(node_call(lambda ctx: ctx.operation.retry()))
    assert (outcome.kind, outcome.delay_ms) == (RETRY, -1)
    assert outcome.message


def test_w2_raised_operation_retry_is_a_retry() -> None:
    from cloudify.exceptions import OperationRetry

    outcome = outcome_of_raising(OperationRetry("soon", retry_after=2))
    assert (outcome.kind, outcome.delay_ms) == (RETRY, 2000)


def test_w2_non_recoverable_error_fails() -> None:
    from cloudify.exceptions import NonRecoverableError

    outcome = outcome_of_raising(NonRecoverableError("quota is used up"))
    assert (outcome.kind, outcome.message) == (FAILED, "quota is used up")
    assert outcome.error["type"] == "NonRecoverableError"


@pytest.mark.parametrize("name", ["HttpException", "ProcessKillCancelled"])
def test_w2_subclasses_of_non_recoverable_error_fail(name: str) -> None:
    from cloudify import exceptions

    kind = getattr(exceptions, name)
    error = kind("http://there", 500, "broken") if name == "HttpException" else kind("killed")
    assert outcome_of_raising(error).kind is FAILED


def test_w2_recoverable_error_waits_as_it_says() -> None:
    from cloudify.exceptions import RecoverableError

    outcome = outcome_of_raising(RecoverableError("busy", retry_after=1.5))
    assert (outcome.kind, outcome.delay_ms) == (RETRY, 1500)


def test_w2_serialization_retry_is_a_retry() -> None:
    from cloudify.exceptions import CloudifySerializationRetry

    assert outcome_of_raising(CloudifySerializationRetry("wait")).kind is RETRY


def test_w2_any_other_exception_is_a_retry_with_its_traceback() -> None:
    outcome = outcome_of_raising(KeyError("ip"))
    assert (outcome.kind, outcome.delay_ms) == (RETRY, -1)
    assert outcome.error["type"] == "KeyError"
    assert "raise error" in outcome.error["traceback"]
    assert "cloudify/callers.py" not in outcome.error["traceback"]


def test_w2_causes_of_an_error_are_kept() -> None:
    from cloudify.exceptions import NonRecoverableError
    from cloudify.utils import exception_to_error_cause

    def create(**kwargs: Any) -> None:
        try:
            raise ValueError("deep down")
        except ValueError as error:
            raise NonRecoverableError("outside", causes=[exception_to_error_cause(error, error.__traceback__)])  # noqa: B904

    assert "deep down" in call_function(node_call(create)).error["causes"]


def test_w2_function_that_cannot_be_imported_fails() -> None:
    outcome = call_function(node_call(ImportError("No module named 'plugin'")))
    assert outcome.kind is FAILED
    assert "'plugin.function' cannot be loaded" in outcome.message


def test_w2_sys_exit_fails_and_leaves_the_engine_alone() -> None:
    outcome = outcome_of_raising(SystemExit(3))
    assert outcome.kind is FAILED
    assert "sys.exit(3)" in outcome.message


def test_c4_value_that_cannot_be_stored_fails_and_its_neighbours_are_kept() -> None:
    def create(ctx: Any, **kwargs: Any) -> None:
        ctx.instance.runtime_properties["machine"] = "i-17"
        ctx.instance.runtime_properties["handle"] = {"open": object()}

    call = node_call(create)
    outcome = call_function(call)
    assert outcome.kind is FAILED
    assert "handle.open" in outcome.message
    assert "web_1" in outcome.message
    assert stored(call.instance) == {"machine": "i-17"}


def test_c3_logger_lines_belong_to_the_call() -> None:
    def create(ctx: Any, **kwargs: Any) -> None:
        ctx.logger.debug("a %s", 1)
        ctx.logger.warning("b")
        ctx.logger.getChild("part").error("c")
        ctx.logger.setLevel("ERROR")
        ctx.logger.info("not shown")
        ctx.send_event("d")

    call = node_call(create)
    call_function(call)
    assert said(call).lines == [("debug", "a 1"), ("warning", "b"), ("error", "c"), ("info", "d")]
