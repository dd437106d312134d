"""What expressions give: the documented forms, those of the vendor's templates, scopes, cycles and limits."""

import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.model.problems.problem import ProblemsError
from phaseline.records.expression import Expression, compiled, one_line, verdict
from phaseline.records.grammar import tree_of
from phaseline.records.record import Record
from phaseline.records.unparsing import text_of, value_text
from phaseline.records.values import ErrorValue

NODE = {"Name": "n1", "x": 3, "b": {"c": 7}, "Package": "y", "A": True, "H": "  ", "Cores": 9, "word": "a"}


def value_of(text: str, **attributes: object) -> object:
    return Expression(text).evaluate(Record({**NODE, **attributes}), now=1_000.5)


def reason_of(text: str, **attributes: object) -> str:
    found = value_of(text, **attributes)
    assert isinstance(found, ErrorValue), found
    return found.reason


def refused(text: str) -> tuple[str, str, int, str]:
    """(code, message, column, how to mend it) of the one problem."""
    with pytest.raises(ProblemsError) as caught:
        Expression(text)
    (problem,) = caught.value.problems
    return problem.code, problem.message, problem.place.column, problem.mend


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("FixedPublicIp isnt undefined", False),
        ("x =?= 3", True),
        ("x =?= 3.0", False),
        ("x =!= undefined", True),
        ("x IS 3", True),
        ("none ISNT undefined", False),
        ("b.c", 7),
        ("b.d", None),
        ("{1,2}[1]", 2),
        ('[a=1; b=[c="x"]].b.c', "x"),
        ('word in {"a"}', True),
        ('word in {"b"}', False),
        ('word === "a"', True),
        ('word === "A"', False),
        ('word == "A"', True),
        ('word !== "A"', True),
    ],
)
def test_p86_the_documented_forms_give_the_documented_results(text: str, wanted: object) -> None:
    assert value_of(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("!A || Q", "undefined"),
        ("A isnt true", "false"),
        ("A && !Q", "undefined"),
        ('Package in {"x", "y"}', "true"),
        ('Package === "x"', "false"),
        ("A !== undefined", "true"),
        ('{[Label="x"; Value="y"], [Label="z"]}', '{[Label = "x"; Value = "y"], [Label = "z"]}'),
        ("ifThenElse(Size(Trim(H)) == 0, undefined, H)", "undefined"),
        ('toLower(regexps("[^a-z]", "aB", "-", "fg"))', '"a-"'),
        ('StrJoin("-", word, "b")', '"a-b"'),
        ("Cores/2", "4"),
        ('word == "w" ? "w" : "l"', '"l"'),
        ("undefined", "undefined"),
        (
            '"<p class=\\"note\\">Use <b>A</b> &amp; B; x = 1</p>"',
            '"<p class=\\"note\\">Use <b>A</b> &amp; B; x = 1</p>"',
        ),
    ],
)
def test_p88_the_shapes_of_published_templates_evaluate(text: str, wanted: str) -> None:
    assert value_text(value_of(text)) == wanted


@pytest.mark.parametrize(
    ("verdict_of", "wanted"),
    [(True, True), (False, False), (None, False), (0, False), (2.5, True)],
)
def test_a_condition_is_true_only_for_true_and_numbers_but_zero(verdict_of: object, wanted: bool) -> None:
    assert verdict(verdict_of) is wanted


def test_p54_an_undefined_attribute_makes_a_comparison_no() -> None:
    assert Expression("Missing > 3").judge(Record()) is False


@pytest.mark.parametrize("text", ['"yes"', "{true}", "[a = 1]", "1 / 0"])
def test_p55_a_condition_that_is_no_truth_value_is_an_error_with_its_reason(text: str) -> None:
    found = Expression(text).judge(Record())
    assert isinstance(found, ErrorValue)
    assert found.reason


def test_many_records_are_judged_in_their_order() -> None:
    records = [Record({"Cores": cores}) for cores in (1, 8, 0)]
    assert Expression("Cores > 2").judge_all(records) == [False, True, False]
    assert Expression("Cores * 2").evaluate_all(records) == [2, 16, 0]


def test_names_are_looked_up_in_the_record_and_then_around_it() -> None:
    node = Record({"Name": "outer", "inner": {"Own": 1, "Void": None}})
    inner = node.get_as_record("inner")
    assert inner is not None
    assert Expression("Name").evaluate(inner) == "outer"
    assert Expression("my.Name").evaluate(inner) is None
    assert Expression("SELF.own").evaluate(inner) == 1
    assert Expression("Void").evaluate(inner) is None
    assert Expression("Nowhere").evaluate(inner) is None


def test_attributes_that_are_expressions_are_evaluated_where_they_stand() -> None:
    node = Record({"Base": 2, "Twice": Expression("Base * 2"), "in": {"Base": 10, "More": Expression("Twice + Base")}})
    assert Expression("'in'.More").evaluate(node) == 14
    assert Expression("Twice isnt undefined && my.Twice == 4").evaluate(node) is True
    assert Expression("Twice is undefined").evaluate(node) is False


def test_an_attribute_that_needs_itself_is_an_error_with_the_chain() -> None:
    node = Record({"P": Expression("Q + 1"), "Q": Expression("R"), "R": Expression("P"), "D": Expression("[x = D].x")})
    assert reason_of("P", **{name: node.stored(name) for name in node}) == "cycle: P → Q → R → P"
    assert isinstance(node.get("D"), ErrorValue)


def test_a_long_way_through_attributes_ends_in_an_error() -> None:
    node = Record({f"A{number}": Expression(f"A{number + 1}") for number in range(2_000)})
    found = node.get("A0")
    assert isinstance(found, ErrorValue)
    assert "too many attributes" in found.reason
    assert Expression("1").evaluate_all([node, node]) == [1, 1]


def test_attributes_that_double_each_other_spend_the_budget() -> None:
    node = Record({f"A{number}": Expression(f"A{number + 1} + A{number + 1}") for number in range(60)})
    begun = process_time()
    found = Expression("A0").evaluate_all([node, Record({"A0": 5})])
    assert process_time() - begun < 5
    assert isinstance(found[0], ErrorValue)
    assert "steps" in found[0].reason
    assert found[1] == 5


def test_parts_of_a_record_in_an_expression_see_one_another_and_what_is_around() -> None:
    assert value_of("[a = x + 1; b := a * 2].b") == 8
    assert value_of("[a = [c = x]].a.c") == 3
    assert value_of("[a = 1; A1 = 2]['a1']") is None
    assert value_of('[a = 1]["A"]') == 1
    assert value_of("{[v=1],[v=2]}.v") == (1, 2)
    assert value_text(value_of("[a = x + 1; b = 2]")) == "[a := x + 1; b = 2]"


def test_the_clock_is_handed_in() -> None:
    assert value_of("time()") == 1_000
    assert Expression("time()").evaluate(Record()) == ErrorValue()
    node = Record({"Age": Expression("time() - 40"), "deep": {"Age": Expression("time()")}})
    node.now = 100.0
    assert node.get("Age") == 60
    assert node.get("deep.Age") == 100


def test_the_names_that_an_expression_asks_for() -> None:
    assert Expression('Cores > 2 && my.Provider == "acme" || size(Tags) > 0').names() == {"cores", "provider", "tags"}


def test_expressions_are_equal_by_their_text() -> None:
    assert Expression("a + b") == Expression(" a + b ")
    assert Expression("a + b") != Expression("a+b")
    assert Expression("a") != "a"
    assert len({Expression("a"), Expression("a")}) == 1
    assert repr(Expression("a")) == "Expression('a')"


PIECES = st.recursive(
    st.sampled_from(
        ["1", "-2", "2.5", '"a\\n"', "true", "undefined", "error", "Name", "my.Name", "'odd name'", "f.x", "l[0]"]
    ),
    lambda inner: (
        st.builds(
            "{} {} {}".format,
            inner,
            st.sampled_from(
                [
                    "+",
                    "-",
                    "*",
                    "/",
                    "%",
                    "&",
                    "|",
                    "^",
                    "==",
                    "!=",
                    "===",
                    "=!=",
                    "is",
                    "<",
                    ">=",
                    "in",
                    "<<",
                    ">>>",
                    "&&",
                    "||",
                    "?:",
                ]
            ),
            inner,
        )
        | st.builds("({})".format, inner)
        | st.builds("{}{}".format, st.sampled_from(["-", "+", "!", "~"]), inner)
        | st.builds("{} ? {} : {}".format, inner, inner, inner)
        | st.builds("({}).x[{}]".format, inner, inner)
        | st.builds("{{{}, {}}}".format, inner, inner)
        | st.builds("[a = {}; 'b c' := {}]".format, inner, inner)
        | st.builds("strcat({}, {})".format, inner, inner)
    ),
    max_leaves=10,
)


@given(PIECES)
def test_p85_a_tree_is_written_so_that_reading_gives_it_back(text: str) -> None:
    tree = tree_of(text)
    assert tree_of(text_of(tree)) == tree
    assert text_of(tree_of(text_of(tree))) == text_of(tree)


def test_a_text_over_several_lines_becomes_one_without_comments() -> None:
    assert one_line('a  // why\n  + /* x */ "b\nc"') == 'a + "b\\nc"'
    assert one_line('"//"') == '"//"'
    assert one_line("a\r\n+ b\r") == "a + b"


def test_a_long_text_is_compiled_but_not_kept() -> None:
    before = compiled.cache_info().currsize
    assert Expression(" + ".join(["x"] * 500)).evaluate(Record({"x": 2})) == 1_000
    assert compiled.cache_info().currsize == before


def test_threads_read_and_evaluate_at_the_same_time() -> None:
    records = [Record({"x": number}) for number in range(200)]

    def work(number: int) -> list[object]:
        return Expression(
            f'x * 2 + {number} > 100 ? strcat(x, regexps(\'1\' ?: "1", string(x), "-", "fg")) : {number}'
        ).evaluate_all(records)

    compiled.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(40)))
    assert found == [work(number) for number in range(40)]


@pytest.mark.parametrize(
    ("text", "code", "column", "mend"),
    [
        ("", "PL-R005", 1, "write one"),
        ("1 +", "PL-R005", 4, "missing"),
        ("a = 3", "PL-R005", 3, "=="),
        ("a and b", "PL-R005", 3, "&&"),
        ("a is not b", "PL-R005", 10, "isnt"),
        ("a isn b", "PL-R005", 3, "operator"),
        ("isn b", "PL-R005", 5, "did you mean 'is"),
        ("a == 'b' 'c'", "PL-R005", 10, "double quotes"),
        ("{,}", "PL-R005", 2, "comma"),
        (")", "PL-R001", 1, "open it"),
        ("(]", "PL-R001", 2, "close '('"),
        ("(1", "PL-R001", 1, "')'"),
        ("*", "PL-R005", 1, "value or a name"),
        ('"a', "PL-R004", 1, "close"),
        ("'a", "PL-R004", 1, "same line"),
        ("a ? b", "PL-R005", 6, "missing"),
        ("a # b", "PL-R001", 3, "quotes"),
        ("a /* b", "PL-R001", 3, "*/"),
        ("9223372036854775808", "PL-R011", 1, "64 bits"),
        ("1" * 500, "PL-R011", 1, "64 bits"),
        ("1e999", "PL-R011", 1, "64 bits"),
        ("0xFFFFFFFFFFFFFFFFFF", "PL-R011", 1, "64 bits"),
        ("1 + strcta(1)", "PL-R006", 5, "did you mean 'strcat'?"),
        ("zzzzzz(1)", "PL-R006", 1, "there are: "),
        ("size()", "PL-R009", 1, "page"),
        ('substr("a")', "PL-R009", 1, "page"),
        ('join() + "a"', "PL-R009", 1, "page"),
        ("ifThenElse(1, 2)", "PL-R009", 1, "page"),
        ('x + regexp("(a", x)', "PL-R008", 5, "RE2"),
        ('regexp("(a)\\\\1", x)', "PL-R008", 1, "RE2"),
        ('regexp("a", "b", "x")', "PL-R008", 1, "RE2"),
        ("[a = 1; A = 2]", "PL-R002", 1, "one value"),
        (f"[a = {'!' * 250}1]", "PL-R007", 1, "names of their own"),
    ],
)
def test_a_mistake_has_its_code_its_place_and_a_way_to_mend_it(text: str, code: str, column: int, mend: str) -> None:
    found = refused(text)
    assert (found[0], found[2]) == (code, column)
    assert mend in found[3]


def test_the_number_of_arguments_is_told_in_words() -> None:
    assert refused('substr("a")')[1] == "substr takes 2 to 3 arguments, 1 given"
    assert refused("join()")[1] == "join takes at least 1 argument, 0 given"
    assert refused("size(1, 2)")[1] == "size takes 1 argument, 2 given"


def shortest(work: Callable[[], object]) -> float:
    """The seconds of processor time of the fastest of three tries."""
    took = []
    for _ in range(3):
        begun = process_time()
        work()
        took.append(process_time() - begun)
    return min(took)


HOSTILE = {
    "a million terms": "+".join(["a"] * 1_000_000),
    "a hundred thousand brackets": "(" * 100_000 + "1" + ")" * 100_000,
    "a hundred thousand lists": "{" * 100_000,
    "a hundred thousand signs": "!" * 100_000 + "x",
    "brackets that just fit the length": "(" * 8_000 + "1" + ")" * 8_000,
    "signs that just fit the length": "-" * 16_000 + "x",
    "choices that just fit": "a?" * 2_000 + "1" + ":2" * 2_000,
    "an unclosed comment": "/*" + "*" * 16_000,
    "an unclosed string": '"' + "\\\\" * 8_000,
    "an unclosed name": "'" + "a" * 16_000,
    "words without operators": "a " * 8_000,
    "records in records": "[a=" * 190 + "1" + "]" * 191,
}


@pytest.mark.alone
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_p90_a_hostile_text_ends_in_a_problem_at_once(text: str) -> None:
    Expression("a.b && size({1}) > 2")
    assert shortest(lambda: refused(text)) < 0.1


@pytest.mark.alone
@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 5_000 + "b"),
        ("(a|aa)+$", "a" * 5_000 + "b"),
        ("(.*)*x", "y" * 5_000),
        ("a?" * 60 + "a" * 60, "a" * 60),
    ],
)
def test_p90_an_exponential_pattern_takes_no_time(pattern: str, text: str) -> None:
    node = Record({"pattern": pattern, "text": text})
    assert shortest(lambda: Expression("regexp(pattern, text)").evaluate(node)) < 0.1


def test_p90_a_thousand_terms_are_no_depth() -> None:
    assert Expression(" && ".join(["x > 2"] * 1_000)).evaluate(Record({"x": 3})) is True
    assert Expression(" + ".join(["x"] * 1_000)).evaluate(Record({"x": 3})) == 3_000


def test_p90_two_hundred_brackets_are_allowed_and_one_more_is_refused() -> None:
    assert Expression("(" * 200 + "1" + ")" * 200).evaluate(Record()) == 1
    assert refused("(" * 201 + "1" + ")" * 201)[0] == "PL-R007"
    assert Expression("!" * 200 + "true").evaluate(Record()) is True
    assert refused("!" * 201 + "true")[0] == "PL-R007"
    assert value_text(Expression("{" * 200 + "}" * 200).evaluate(Record())) == "{" * 200 + "}" * 200


def test_p90_texts_that_grow_are_bounded_in_size_and_time() -> None:
    node = Record({"A0": "x" * 1_000_000})
    for number in range(1, 40):
        node.set_expression(f"A{number}", f"strcat(A{number - 1}, A{number - 1})")
    tracemalloc.start()
    begun = process_time()
    found = node.get("A39")
    took = process_time() - begun
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(found, ErrorValue)
    assert took < 5
    assert peak < 100_000_000


def test_p90_long_texts_and_lists_spend_the_budget() -> None:
    node = Record({"T": "x" * 1_000_000, "U": "X" * 1_000_000, "L": ["a"] * 90_000})
    for text in (
        " || ".join(["T != U"] * 500),
        "member(1, L) || member(2, L)",
        'regexp("x*y", T) || regexp("x+xz", T)' * 1,
    ):
        begun = process_time()
        Expression(text).evaluate(node)
        assert process_time() - begun < 5
    assert "steps" in reason_of(" || ".join(["T != U"] * 500).replace("!=", "=="), T=node.get("T"), U="y" * 1_000_000)


def test_p91_no_text_is_read_twice() -> None:
    Expression("FixedPublicIp isnt undefined")
    before = compiled.cache_info().misses
    condition = Expression("FixedPublicIp isnt undefined")
    found = condition.judge_all(
        [Record({"FixedPublicIp": "10.0.0.1"} if number % 2 else {}) for number in range(1_000)]
    )
    assert found.count(True) == 500
    assert compiled.cache_info().misses == before


def test_times_and_spans_are_calculated_with() -> None:
    moment = datetime(2026, 11, 21, 10, tzinfo=UTC)
    assert value_of('absTime("2026-11-21T10:00:00Z") + relTime("1:00")') == moment + timedelta(minutes=1)
    assert value_of('When < absTime("2027-01-01")', When=moment) is True
    assert value_of("relTime(60) * 2") == timedelta(minutes=2)
    assert value_of("-relTime(60)") == timedelta(minutes=-1)
    assert reason_of("relTime(60) / 0") == "division by zero"
    assert "no time" in reason_of("absTime(0) - relTime(1e11)")
    assert reason_of("relTime(60) / relTime(2)") == "duration / duration means nothing"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 / 0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("1.5 / 0", "division by zero"),
        ('1 + "a"', "integer + string means nothing"),
        ('"a" < 1', "string < integer means nothing"),
        ('"a" == 1', "string == integer means nothing"),
        ('"a" % 1', "string % integer means nothing"),
        ('1 & "a"', "integer & string means nothing"),
        ('-"a"', "-string means nothing"),
        ('!"a"', "the string is neither true nor false"),
        ("9223372036854775807 + 1", "the result is an integer of more than 64 bits"),
        ("- -9223372036854775808", "the result is an integer of more than 64 bits"),
        ("1e308 * 10 * 9223372036854775807 is 1 || 1 / 0", "division by zero"),
        ("{1}[3]", "the list has 1 elements, none is at 3"),
        ('{1}["a"]', "list[string] means nothing"),
        ("x.y", "the integer has no attribute 'y'"),
        ("1 in 2", "a list is needed, this is the integer"),
        ("{1} in {2}", "a list is no member that can be looked for"),
        ("1 in error", "the value error"),
        ("error in {1}", "the value error"),
        ("error + 1", "the value error"),
        ("1 + error", "the value error"),
        ("{1}[error]", "the value error"),
        ("error.x", "the value error"),
        ("error ? 1 : 2", "the value error"),
        ("-error", "the value error"),
        ("true && error", "the value error"),
        ("error ?: 1", "the value error"),
    ],
)
def test_an_error_says_why(text: str, reason: str) -> None:
    assert reason_of(text) == reason


@pytest.mark.parametrize(
    "text",
    [
        "none + 1",
        "none[1]",
        "{1}[none]",
        "none.x",
        "none ? 1 : 2",
        "-none",
        "none in {1}",
        "1 in none",
        "!none",
        "none == 1",
        "none ?: none",
    ],
)
def test_undefined_goes_through(text: str) -> None:
    assert value_of(text) is None


@pytest.mark.parametrize("text", ["a ?: b ?: c || d && e ?: f", "(a ?: b) && c", "a || b && c", "(a || b) && !c"])
def test_p85_logic_and_defaults_are_written_with_the_brackets_that_they_need(text: str) -> None:
    assert text_of(tree_of(text)) == text


def test_an_expression_of_too_many_words_is_refused() -> None:
    code, message, _, _ = refused("+".join(["1"] * 3_000))
    assert (code, message) == ("PL-R007", "the expression is too long: it has more than 4,096 words and signs")


def test_a_number_without_end_is_no_time() -> None:
    assert reason_of("absTime(1e308 * 10)") == "the number is not finite"
