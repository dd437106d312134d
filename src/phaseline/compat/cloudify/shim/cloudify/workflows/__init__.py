"""What workflow programs import. They do not run yet; operations that import these names do."""

from cloudify.state import workflow_ctx as ctx, workflow_parameters as parameters
from cloudify.workflows import workflow_api as api

__all__ = ('api', 'ctx', 'local', 'parameters', 'tasks', 'tasks_graph', 'workflow_api', 'workflow_context')


def __getattr__(name):
    if name in ('local', 'tasks', 'tasks_graph', 'workflow_context'):
        import importlib
        return importlib.import_module('cloudify.workflows.' + name)
    raise AttributeError("module 'cloudify.workflows' has no attribute %r" % name)
