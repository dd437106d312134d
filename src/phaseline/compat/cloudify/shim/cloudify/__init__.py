"""The ancestor's package ``cloudify`` as plugins import it, carried by Phaseline's engine.

This folder is put on ``sys.path`` in processes that run plugin code; it is never installed at top level. Submodules
are imported when they are named, so that a plugin pays only for what it uses.
"""

import importlib

from cloudify.state import ctx, current_ctx, ctx_parameters, workflow_ctx, workflow_parameters

_SUBMODULES = frozenset((
    'constants', 'context', 'decorators', 'endpoint', 'event', 'exceptions', 'logs', 'manager', 'mocks', 'plugins',
    'proxy', 'state', 'test_utils', 'utils', 'workflows',
))

__all__ = ('ctx', 'current_ctx', 'ctx_parameters', 'workflow_ctx', 'workflow_parameters')


def __getattr__(name):
    if name in _SUBMODULES:
        return importlib.import_module('cloudify.' + name)
    raise AttributeError("module 'cloudify' has no attribute %r" % name)
