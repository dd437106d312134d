"""Records made at random, for properties that hold of every record."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import strategies as st

from phaseline.records.expression import Expression
from phaseline.records.record import Record
from phaseline.records.values import ErrorValue

NAMES = (
    st.text(min_size=1, max_size=8)
    | st.sampled_from(
        ["Name", "PhaseMap", "Acme.CreateInstance", "it's", "true", "IS", "a b", "AdType", "$expr", "\\", "é"]
    )
).filter(lambda name: len(name.lower()) == len(name))
TEXTS = st.text(max_size=20) | st.sampled_from(['say "hi"', "a\nb\r\t", "\\n", "// no comment", "ü🙂\u2028", ""])
EXPRESSIONS = st.sampled_from(
    ["a + b", "FixedPublicIp isnt undefined", '"x\\ny" == Name', "[a = 1; b := a].b", "{1, x}[0] ?: 3"]
)
ZONES = st.sampled_from([UTC, timezone(timedelta(hours=-5, minutes=-30)), timezone(timedelta(seconds=3661))])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | TEXTS
    | st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1), timezones=ZONES)  # noqa: DTZ001 - with a zone of its own
    | st.timedeltas(min_value=timedelta(days=-9_999), max_value=timedelta(days=9_999))
    | st.just(ErrorValue())
)


def records(*, scalars: st.SearchStrategy[object] = SCALARS) -> st.SearchStrategy[Record]:
    """Records of everything that a record can hold."""

    def of(inner: st.SearchStrategy[object]) -> st.SearchStrategy[Record]:
        values = inner | EXPRESSIONS.map(Expression)
        pairs = st.lists(st.tuples(NAMES, values), max_size=4, unique_by=lambda pair: pair[0].lower())
        return pairs.map(Record)

    return of(st.recursive(scalars, lambda inner: st.lists(inner, max_size=3).map(tuple) | of(inner), max_leaves=12))
