"""The worker process that evaluates YAQL and matches untrusted patterns.

It reads one JSON document per line and writes one for each. ``judge`` runs it as a script, and ends it when an answer
takes too long. It imports nothing of Phaseline, and an expression sees only the data of its request.
"""

# mypy: ignore-errors
import collections.abc  # yaql uses it without importing it
import json
import re
import resource
import signal
import sys
from functools import lru_cache

MAX_STEPS = 100_000
"""Largest number of items of any iteration in an expression."""
LIMIT_S = 1.0
"""Largest computing time of an answer, in seconds."""
MAX_BYTES = 1 << 30
UNDEFINED = object()
assert collections.abc is not None


@lru_cache(maxsize=1)
def language():
    """Return (engine, context) of YAQL, configured as in Fuel; made for the first expression."""
    import yaql

    options = {"yaql.limitIterators": MAX_STEPS, "yaql.memoryQuota": MAX_BYTES // 10, "yaql.convertSetsToLists": True}
    engine = yaql.YaqlFactory(allow_delegates=True).create(options=options)
    context = yaql.create_context()
    lenient(context)
    differences(context)
    documents(context)
    return engine, context


def lenient(context):
    """Make the value of a missing key, and of any attribute of null, null instead of an error, as in Fuel's older
    language of conditions.
    """
    from yaql.language import specs, utils, yaqltypes

    @specs.parameter("d", utils.MappingType, alias="dict")
    @specs.parameter("key", yaqltypes.Keyword())
    @specs.name("#operator_.")
    def of_mapping(d, key):
        return d.get(key)

    @specs.parameter("d", type(None), nullable=True)
    @specs.parameter("key", yaqltypes.Keyword())
    @specs.name("#operator_.")
    def of_nothing(d, key):
        return None

    @specs.parameter("d", utils.MappingType, alias="dict")
    @specs.name("#indexer")
    def at(d, key):
        return d.get(key)

    @specs.parameter("d", type(None), nullable=True)
    @specs.name("get")
    @specs.method
    def got_of_nothing(d, key, default=None):
        return default

    for function in (of_mapping, of_nothing, at, got_of_nothing):
        context.register_function(function)


def value_of(expression, context, name):
    """Return the value of an expression, or ``UNDEFINED`` if it has none.

    ``name``: ``$__new`` to evaluate it on the current data, ``$__old`` for the former data.
    """
    try:
        return plain(expression(context[name]))
    except Exception:  # as in Fuel's comparison: a failing lookup is undefined
        return UNDEFINED


def is_changed(expression, context):
    """Return True if the value of an expression differs between the former and the current data."""
    return value_of(expression, context, "$__new") != value_of(expression, context, "$__old")


def items_of(expression, context, name):
    """Return the list that is an expression's value, or an empty list if the value is no list."""
    found = value_of(expression, context, name)
    return found if isinstance(found, list) else []


def defined(found):
    """Return None for ``UNDEFINED``, and any other value unchanged."""
    return None if found is UNDEFINED else found


def differences(context):
    """Register ``changed``, ``changedAny``, ``changedAll``, ``added``, ``deleted``, ``new`` and ``old``.

    They compare the current data with the former data, which are always empty here.
    """
    from yaql.language import specs, yaqltypes

    def of_many(judge):
        def answer(context, *args):
            return judge(is_changed(one, context) for one in args)

        specs.inject("context", yaqltypes.Context())(answer)
        return specs.parameter("args", yaqltypes.Lambda())(answer)

    def of_one(ask):
        def answer(context, expression):
            return ask(expression, context)

        specs.inject("context", yaqltypes.Context())(answer)
        return specs.parameter("expression", yaqltypes.Lambda())(answer)

    def beyond(name, other):
        def ask(expression, context):
            known = items_of(expression, context, other)
            return [one for one in items_of(expression, context, name) if one not in known]

        return ask

    functions = {
        "changed": of_one(is_changed),
        "changedAny": of_many(any),
        "changedAll": of_many(all),
        "added": of_one(beyond("$__new", "$__old")),
        "deleted": of_one(beyond("$__old", "$__new")),
        "new": of_one(lambda expression, context: defined(value_of(expression, context, "$__new"))),
        "old": of_one(lambda expression, context: defined(value_of(expression, context, "$__old"))),
    }
    for name, function in functions.items():
        context.register_function(function, name=name)


def documents(context):
    """Register ``toJson`` and ``toYaml``. Both return JSON, which is valid YAML."""
    from yaql.language import specs

    @specs.name("toJson")
    @specs.method
    def to_json(value):
        return json.dumps(plain(value))

    @specs.name("toYaml")
    @specs.method
    def to_yaml(value):
        return json.dumps(plain(value))

    context.register_function(to_json)
    context.register_function(to_yaml)


def plain(value):
    """Return a value with YAQL's own collections replaced by dicts and lists, for JSON."""
    if isinstance(value, collections.abc.Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, collections.abc.Iterable):
        return [plain(item) for item in value]
    raise TypeError(f"it gives a {type(value).__name__}")


def yaql_syntax(request):
    """Check that a request's expression can be parsed; raises an exception if not."""
    language()[0](request["text"])


def yaql(request):
    """Return the value of a request's expression, evaluated on the request's data."""
    from yaql.language import utils

    engine, context = language()
    own = context.create_child_context()
    own["$__new"] = utils.convert_input_data(request["data"])
    own["$__old"] = utils.convert_input_data({})
    return plain(
        engine(request["text"])(context=own)
        if False
        else engine(request["text"]).evaluate(context=own, data=request["data"])
    )


def pattern_syntax(request):
    """Check that a request's pattern can be compiled; raises an exception if not."""
    re.compile(request["text"])


def pattern(request):
    """Return True if a request's pattern matches the beginning of the request's text."""
    return re.compile(request["text"]).match(request["data"]) is not None


ASKED = {"yaql": yaql, "yaql syntax": yaql_syntax, "pattern": pattern, "pattern syntax": pattern_syntax}


def out_of_time(_number, _frame):
    """Handle the timer's signal: end a request that has computed for too long.

    Pattern matching checks for signals, too.
    """
    raise TimeoutError("it computes for more than a second")


def main():
    """Answer requests until the input ends."""
    signal.signal(signal.SIGPROF, out_of_time)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["what"].startswith("yaql"):
                language()
            signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
            answer = {"value": ASKED[request["what"]](request)}
        except ModuleNotFoundError as error:
            answer = {"fault": f"No module named '{error.name}'"}
        except BaseException as error:  # any exception of an untrusted expression is its answer
            answer = {"fault": (str(error) or type(error).__name__)[:500]}
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
