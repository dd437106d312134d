"""Which context belongs to the thread that asks (rule C2)."""

import threading
from contextlib import contextmanager


class NotInContext(RuntimeError):
    """Code asked for a context where none is set."""


class CtxParameters(dict):
    """The inputs of the running operation or workflow; attribute access reads a key."""

    def __init__(self, parameters=None):
        super(CtxParameters, self).__init__(parameters or {})

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class _Current(threading.local):
    """A context and its parameters, one pair for each thread."""

    _what = 'an operation'
    _ctx = None
    _parameters = None

    def set(self, ctx, parameters=None):
        self._ctx = ctx
        self._parameters = parameters

    def clear(self):
        self._ctx = None
        self._parameters = None

    @contextmanager
    def push(self, ctx, parameters=None):
        former = self._ctx, self._parameters
        self._ctx, self._parameters = ctx, parameters
        try:
            yield ctx
        finally:
            self._ctx, self._parameters = former

    def get_ctx(self):
        ctx = self._ctx
        if ctx is None:
            raise NotInContext('No context set in current execution thread: this is no call of %s' % self._what)
        return ctx

    def get_parameters(self):
        parameters = self._parameters
        if parameters is None:
            raise NotInContext('No parameters set in current execution thread: this is no call of %s' % self._what)
        if type(parameters) is not CtxParameters:
            parameters = self._parameters = CtxParameters(parameters)
        return parameters


class CurrentContext(_Current):
    """What ``current_ctx`` is."""


class CurrentWorkflowContext(_Current):
    """What ``current_workflow_ctx`` is."""

    _what = 'a workflow'


class _Proxy(object):
    """Stands for whatever a function returns at the moment of use."""

    __slots__ = ('_find',)

    def __init__(self, find):
        object.__setattr__(self, '_find', find)

    def _get_current_object(self):
        return self._find()

    def __getattr__(self, name):
        return getattr(self._find(), name)

    def __setattr__(self, name, value):
        setattr(self._find(), name, value)

    def __delattr__(self, name):
        delattr(self._find(), name)

    def __dir__(self):
        return dir(self._find())

    def __repr__(self):
        try:
            return repr(self._find())
        except NotInContext:
            return '<unset %s>' % type(self).__name__

    def __str__(self):
        return str(self._find())

    def __bool__(self):
        try:
            return bool(self._find())
        except NotInContext:
            return False

    def __eq__(self, other):
        if isinstance(other, _Proxy):
            other = other._find()
        return self._find() == other

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __getitem__(self, key):
        return self._find()[key]

    def __setitem__(self, key, value):
        self._find()[key] = value

    def __delitem__(self, key):
        del self._find()[key]

    def __contains__(self, key):
        return key in self._find()

    def __iter__(self):
        return iter(self._find())

    def __len__(self):
        return len(self._find())

    @property
    def __class__(self):
        # isinstance(ctx, CloudifyContext) holds for the proxy too; outside a call it is only itself.
        try:
            return type(self._find())
        except NotInContext:
            return _Proxy


current_ctx = CurrentContext()
current_workflow_ctx = CurrentWorkflowContext()

ctx = _Proxy(current_ctx.get_ctx)
ctx_parameters = _Proxy(current_ctx.get_parameters)
workflow_ctx = _Proxy(current_workflow_ctx.get_ctx)
workflow_parameters = _Proxy(current_workflow_ctx.get_parameters)
