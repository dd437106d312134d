"""Known values are found in texts in whatever form they are usually written, and nothing else is."""

import base64
import json
import shlex
import urllib.parse

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phaseline.vault.known_secrets import MASK, KnownValues, leaves

VALUE = 'pa$s"w/ö rd\\9'


def knowing(*values: object) -> KnownValues:
    known = KnownValues()
    for value in values:
        known.learn(value)  # type: ignore[arg-type]  # whatever JSON says
    return known


def test_while_nothing_is_known_a_text_is_the_same_object() -> None:
    text = "connected to db"
    assert KnownValues().masked(text) is text
    assert not KnownValues()


@pytest.mark.parametrize(
    "form",
    [
        VALUE,
        json.dumps(VALUE),
        json.dumps(VALUE, ensure_ascii=False),
        repr(VALUE),
        urllib.parse.quote(VALUE),
        urllib.parse.quote(VALUE, safe=""),
        urllib.parse.quote_plus(VALUE),
        base64.b64encode(VALUE.encode()).decode(),
        base64.urlsafe_b64encode(VALUE.encode()).decode(),
        shlex.quote(VALUE),
    ],
)
def test_b41_a_value_is_masked_in_the_forms_in_which_programs_write_it(form: str) -> None:
    shown = knowing(VALUE).masked(f"login with {form} failed")
    assert shown.startswith("login with ")
    assert shown.endswith(" failed")
    assert MASK in shown
    assert "rd" not in shown[10:-7]


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "user:"])
def test_b41_a_value_is_masked_in_base64_of_a_longer_text(before: str) -> None:
    value = "correct-horse-battery"
    coded = base64.b64encode(f"{before}{value}@host".encode()).decode()
    shown = knowing(value).masked(f"Basic {coded}")
    left = "".join(shown.removeprefix("Basic ").split(MASK))
    assert MASK in shown
    assert len(left) < 14 + len(before) * 2


def test_b41_each_line_of_a_value_is_masked_alone() -> None:
    key = "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA\nq83vEjRWeJq8\n-----END KEY-----\n"
    known = knowing(key)
    for line in key.splitlines():
        assert known.masked(f"<out> {line}") == f"<out> {MASK}"


def test_b41_texts_within_a_json_value_are_masked_alone() -> None:
    known = knowing('{"user": "annika", "keys": ["k-12345"], "port": 54321, "on": true}')
    assert known.masked("annika:k-12345@db:54321 on true") == f"{MASK}:{MASK}@db:{MASK} on true"


def test_b41_short_values_are_masked_as_words_only() -> None:
    assert knowing("abc").masked("abc abcd a.abc-b") == f"{MASK} abcd a.{MASK}-b"
    assert not knowing("")
    assert not knowing(" \n")


def test_b41_a_value_that_was_cut_is_masked_where_it_was_cut() -> None:
    known = knowing("correct-horse-battery")
    assert known.masked("the key is correct-ho") == f"the key is {MASK}"
    assert known.masked("e-battery is the key") == f"{MASK} is the key"
    cut = "x correct-hor\n... 5000 characters left out ...\ne-battery y"
    assert known.masked(cut) == f"x {MASK}\n... 5000 characters left out ...\n{MASK} y"
    assert known.masked("the correct way") == "the correct way"


def test_b41_values_that_overlap_are_masked_as_one() -> None:
    assert knowing("abcdef", "defghi").masked("x abcdefghi y") == f"x {MASK} y"


def test_b41_only_numbers_that_are_known_are_told() -> None:
    known = knowing({"port": 54321, "count": 3})
    assert known.is_number(54321)
    assert not known.is_number(3)
    assert not known.is_number(True)
    assert not known.is_number("54321")


def test_the_leaves_of_a_value() -> None:
    assert sorted(leaves(["a", {"b": ["c", 1.5, None, True]}])) == ["1.5", "a", "c"]


@settings(max_examples=50)
@given(st.text(min_size=4, max_size=30).filter(lambda text: len(text.strip()) >= 4), st.text(), st.text())
def test_b41_after_masking_the_value_stands_nowhere(value: str, before: str, after: str) -> None:
    shown = knowing(value).masked(before + value + after)
    assert value not in shown.replace(MASK, "\0") or value in MASK
