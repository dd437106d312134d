"""A plugin that gives what nobody should: tests copy this file beside a blueprint, and name a case for each node."""

from fractions import Fraction
from pathlib import Path

from phaseline import NonRecoverableError, RecoverableError, operation
from phaseline.model.blueprint.operation_declaration import as_phase


class Mute:
    """Says nothing of itself, and is no number."""

    def __repr__(self):
        raise RuntimeError("no repr")

    def __str__(self):
        raise RuntimeError("no str")

    def __float__(self):
        raise RuntimeError("no float")

    def __bool__(self):
        raise RuntimeError("neither")


class Ends(Mute):
    """Whoever asks ends his process."""

    def __repr__(self):
        raise SystemExit(3)

    __str__ = __float__ = __repr__


class Closed(dict):
    """Nobody looks into it."""

    def items(self):
        raise SystemExit(3)

    __iter__ = values = keys = items


class Unequal(str):
    """Cannot be compared, nor hashed anew."""

    __slots__ = ()

    def __eq__(self, other):
        raise RuntimeError("not equal")

    def __hash__(self):
        return 1


class MuteError(Exception):
    """Has no text."""

    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


class Worse(BaseException):
    """No ``Exception``."""


class Late(RecoverableError):
    """Does not know when."""

    @property
    def retry_after(self):
        return Ends()

    @retry_after.setter
    def retry_after(self, value):
        pass


def in_itself():
    found = {}
    found["a"] = [found]
    return found


def deep(levels, make=lambda inner: {"a": inner}):
    found = 1
    for _ in range(levels):
        found = make(found)
    return found


UNSTORABLE = {
    "nan": lambda: float("nan"),
    "infinity": lambda: {"a": [-0.0, float("-inf")]},
    "an object": object,
    "mute": Mute,
    "ends": Ends,
    "closed": Closed,
    "bytes": lambda: b"\xff",
    "a set": lambda: {1},
    "in itself": in_itself,
    "deep": lambda: deep(3000),
    "a little too deep": lambda: deep(101),
    "lists": lambda: deep(3000, lambda inner: (inner,)),
    "digits": lambda: 10**5000,
    "below": lambda: {"a": [{"b": -(10**5000)}]},
    "mute names": lambda: {Mute(): 1},
}
TOO_LARGE = {
    "shared": lambda: deep(60, lambda inner: [inner, inner]),
    "a text": lambda: "x" * 40_000_000,
    "a name": lambda: {"x" * 40_000_000: 1},
}
STORABLE = {
    "half a character": lambda: {"\udcff": "n\ud800"},
    "many digits": lambda: 10**4000,
    "other names": lambda: {3: 4, None: 5, (1, 2): {True: 6}},
    "nearly too deep": lambda: deep(90),
    "zeros": lambda: {"a\x00b": "\x00"},
}
NO_TIME = {
    "nan": lambda: float("nan"),
    "infinite": lambda: float("inf"),
    "as infinite": lambda: float("-inf"),
    "a word": lambda: "soon",
    "mute": Mute,
    "ends": Ends,
    "digits": lambda: 10**400,
}
TIME = {
    "in an age": lambda: 1e18,
    "in more than an age": lambda: 10**30,
    "before": lambda: -5,
    "long before": lambda: -(10**30),
    "in a third": lambda: Fraction(1, 3),
}
FINAL = {
    "exit": lambda: SystemExit(Ends()),
    "for good": lambda: NonRecoverableError(Mute()),
    "late": lambda: Late("busy"),
    "nan": lambda: RecoverableError("busy", retry_after=float("nan")),
    "word": lambda: RecoverableError("busy", retry_after="soon"),
}
RAISED = {
    "no text": MuteError,
    "worse": Worse,
    "generator": GeneratorExit,
    "interrupt": KeyboardInterrupt,
    "in an age": lambda: RecoverableError("busy", retry_after=1e18),
    "half": lambda: ValueError("n\udce9"),
    "mute": lambda: ValueError(Mute()),
    "ends": lambda: ValueError(Ends()),
    "much": lambda: ValueError("x" * 4_000_000),
}
ALL = {
    "unstorable": UNSTORABLE,
    "too large": TOO_LARGE,
    "storable": STORABLE,
    "no time": NO_TIME,
    "final": FINAL,
    "raised": RAISED,
}


def given(case):
    """(what kind of it, it)."""
    kind, _, name = case.partition(": ")
    return kind, ALL[kind][name]() if name else None


def property_of(properties, case):
    """Leave it as a runtime property, or raise it; the time if it is one."""
    kind, it = given(case)
    if kind in {"unstorable", "too large", "storable"}:
        properties["x"] = it
    elif kind in {"final", "raised"}:
        raise it
    return it if kind == "no time" else None


@operation
def each(item):
    """Properties."""
    item.log.info(item.properties["case"])
    time = property_of(item.runtime_properties, item.properties["case"])
    if time is not None:
        item.again(time)


@operation
async def later(item):
    """The same in a coroutine."""
    each(item)


@operation(bulk=True, max_batch=1)
def bulk(batch):
    """The same in bulk."""
    for item in batch:
        each(item)


@operation(bulk=True)
def together(batch):
    """Properties of all of them in one call."""
    for item in batch:
        item.runtime_properties["x"] = given(item.properties["case"])[1]


@operation
def data(item):
    """What is left for the next call."""
    if "x" not in item.data:
        item.data["x"] = given(item.properties["case"])[1]
        item.again(0)


@operation
def result(item):
    """What is remembered of it."""
    item.complete(given(item.properties["case"])[1])


@operation
def lines(item):
    """What is written and said."""
    _, it = given(item.properties["case"])
    for level in ("debug", "info", "warning", "error"):
        getattr(item.log, level)(it)
    item.fail(it)


def with_ctx(ctx, **_):
    """As ``each`` for functions with ctx."""
    time = property_of(ctx.instance.runtime_properties, ctx.node.properties["case"])
    if time is not None:
        ctx.operation.retry("later", retry_after=time)


def returned(ctx, **_):
    """What is returned."""
    return given(ctx.node.properties["case"])[1]


def handle(handler):
    """A phase."""
    cases = Path(__file__).with_name("cases").read_text().splitlines()
    for resource in handler.resources:
        _, it = given(cases[int(resource["Name"].partition("_")[0].removeprefix("n"))])
        if isinstance(it, BaseException):
            raise it
        try:
            handler.get_resource_phase_data(resource)["x"] = it
            resource["x"] = it
        except (TypeError, ValueError, RuntimeError) as error:
            handler.set_failed(resource, f"refused: {type(error).__name__}")
        else:
            handler.set_completed(resource)


handle = as_phase(handle)
