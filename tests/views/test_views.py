"""What use cases answer, as programs get it."""

import json

from phaseline.views.json_codec import document
from phaseline.views.views import FailingCall


def test_the_next_try_of_a_failing_call_is_a_time_and_null_where_it_runs_now() -> None:
    call = FailingCall("web_1", "", "create", "sleeping", 1, 60, 1_500, "no route", 1, 0)
    told = json.loads(document(call))
    assert (told["due_at"], told["attempts"], told["max_retries"]) == ("1970-01-01T00:00:01.500Z", 1, 60)
    running = FailingCall("web_1", "", "create", "running", 1, 60, 0, "no route", 1, 0)
    assert json.loads(document(running))["due_at"] is None
