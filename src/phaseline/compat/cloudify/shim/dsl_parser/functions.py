"""What functions of third parties import of the ancestor's parser.

A distribution announces its own by entry points of the group ``cloudify.tosca.ext.functions``, under the name that
blueprints use; ``register`` is there for the code that calls it.
"""

import abc

SELF = 'SELF'
SOURCE = 'SOURCE'
TARGET = 'TARGET'
AVAILABLE_NODE_TARGETS = [SELF, SOURCE, TARGET]
STATIC_FUNC, HYBRID_FUNC, RUNTIME_FUNC = 0, 1, 2

TEMPLATE_FUNCTIONS = {}


def register(fn=None, name=None, func_eval_type=HYBRID_FUNC):
    """Keep a function under its name; without ``fn`` the decorator that does."""
    if fn is None:
        return lambda later: register(later, name, func_eval_type)
    TEMPLATE_FUNCTIONS[name] = fn
    fn.name = name
    fn.func_eval_type = func_eval_type
    return fn


def unregister(name):
    """Forget it."""
    TEMPLATE_FUNCTIONS.pop(name, None)


class Function(abc.ABC):
    """One use of a function in a blueprint."""

    name = 'function'
    func_eval_type = None

    def __init__(self, args, scope=None, context=None, path=None, raw=None, return_type=None):
        self.scope = scope
        self.context = context
        self.path = path
        self.raw = raw
        self.return_type = return_type
        self.parse_args(args)

    @abc.abstractmethod
    def parse_args(self, args):
        """Take the arguments; raise what is wrong with them."""

    @abc.abstractmethod
    def validate(self, plan):
        """Raise what is wrong with them in the whole blueprint."""

    @abc.abstractmethod
    def evaluate(self, handler):
        """The value, or ``self.raw`` as long as it is not known."""


class _Written(object):
    """A function of the language that stands somewhere: it differs from every value."""

    def __init__(self, raw):
        self.raw = raw


def is_function(value):
    """True for a mapping that is a function."""
    from phaseline.dsl.functions.registry import is_function as is_ours
    return is_ours(value)


def get_function(value):
    """(its name, its arguments) of a mapping that is a function, else None."""
    if not is_function(value):
        return None
    name = next(key for key in value if key != 'type' or len(value) == 1)
    return name, value[name]


def parse(raw_function, scope=None, context=None, path=None):
    """The value itself, unless it is a function: then something that is not equal to it."""
    return _Written(raw_function) if is_function(raw_function) else raw_function
