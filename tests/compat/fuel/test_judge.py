"""YAQL and patterns with look-ahead, by a real process with real limits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from phaseline.compat.fuel.judge import YaqlJudge
from phaseline.lang.regex import PatternError
from phaseline.model.blueprint.blueprint import Value
from phaseline.packages.languages.slow_languages import ConditionError

DATA: Value = {
    "storage": {"volumes_ceph": True, "sizes": [1, 2]},
    "roles": ["controller", "cinder"],
    "detach-murano": {"metadata": {"enabled": True}},
    "network_metadata": {"vips": {"management": {"node_roles": ["controller"]}}},
}


@pytest.fixture(scope="module")
def judge() -> Iterator[YaqlJudge]:
    with YaqlJudge() as found:
        yield found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$.storage.volumes_ceph and ('cinder' in $.roles)", True),
        ("not ('compute' in $.roles)", True),
        ("$.get('detach-murano', {}).get('metadata', {}).get('enabled', false)", True),
        ("$['detach-murano'].metadata.enabled", True),
        ("$.network_metadata.vips.values().where('controller' in $.node_roles).any()", True),
        ("$.nothing.there", None),
        ("$.nothing.get(x)", None),
        ("changedAny($.storage, $.nothing)", True),
        ("changed($.nothing)", False),
        ("changedAll($.storage, $.roles)", True),
        ("new($.storage.sizes)", [1, 2]),
        ("old($.storage.sizes)", None),
        ("added($.roles)", ["controller", "cinder"]),
        ("deleted($.roles)", []),
        ("$.roles.select({name => $, role => '*'})", [{"name": "controller", "role": "*"}, {"name": "cinder", "role": "*"}]),
        ("$.storage.sizes.toJson()", "[1, 2]"),
    ],
)  # fmt: skip
def test_yaql_of_the_ancestor_is_evaluated(judge: YaqlJudge, text: str, expected: Value) -> None:
    assert judge.yaql_fault(text) == ""
    assert judge.yaql(text, DATA) == expected


def test_yaql_that_cannot_be_read_or_evaluated_is_told(judge: YaqlJudge) -> None:
    assert judge.yaql_fault("1 +") == "Parse error: unexpected end of statement"
    with pytest.raises(ConditionError, match="Unknown function"):
        judge.yaql("nobody_knows($.x)", {})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("range(0, 1000000000).toList()", "exceeds 100000 elements"),
        ("range(0, 90000).select(range(0, 90000).select($ * $).sum()).sum()", "computes for more than a second"),
        ("'x' * 1000000000", "too much memory"),
    ],
)
def test_yaql_has_limits_of_steps_time_and_memory_and_the_next_one_is_answered(
    judge: YaqlJudge, text: str, reason: str
) -> None:
    with pytest.raises(ConditionError, match=reason):
        judge.yaql(text, {})
    assert judge.yaql("1 + 1", {}) == 2


@pytest.mark.parametrize(
    ("pattern", "text", "is_so"),
    [
        (r"^((?!root$)\S)", "root", False),
        (r"^((?!root$)\S)", "rooted", True),
        (r"^(\w+){1}((,){1}(?=\w+))*", "a,b", True),
        (r"^(?!(?:0(?:\.0){3}|255(?:\.255){3}))(?:\d|1?\d\d)", "0.0.0.0", False),
    ],
)
def test_patterns_with_look_ahead_are_matched(judge: YaqlJudge, pattern: str, text: str, is_so: bool) -> None:
    assert judge.pattern_fault(pattern) == ""
    assert judge.matches(pattern, text) is is_so


def test_a_pattern_that_would_match_for_ever_is_ended_and_the_next_one_is_answered(judge: YaqlJudge) -> None:
    with pytest.raises(PatternError, match="more than a second"):
        judge.matches(r"^(a+)+(?=b)$", "a" * 60)
    assert judge.matches("^a(?=b)", "ab")
    assert judge.pattern_fault("(") == "missing ), unterminated subpattern at position 0"
    assert judge.pattern_fault("a" * 5_000) == "it has more than 2,000 characters"


def test_a_judge_that_was_closed_answers_with_a_new_process() -> None:
    judge = YaqlJudge()
    assert judge.matches("a", "a")
    judge.close()
    assert judge.matches("a", "a")
    judge.close()
    judge.close()
