"""Decorators of operations and workflows; they mark a function and leave it as it is."""

import functools

from cloudify.exceptions import CloudifySerializationRetry, NonRecoverableError
from cloudify.state import current_ctx


def operation(func=None, resumable=False, **kwargs):
    """Mark an operation. Not needed to make a function one. ``resumable``: may run again after a crash."""
    if func is None:
        return functools.partial(operation, resumable=resumable, **kwargs)
    func.resumable = resumable
    return func


task = operation


def workflow(func=None, system_wide=False, resumable=False, **kwargs):
    """Mark a workflow function."""
    if func is None:
        return functools.partial(workflow, system_wide=system_wide, resumable=resumable, **kwargs)
    func.workflow_system_wide = system_wide
    func.resumable = resumable
    return func


def serial_operation(threshold=0, workflows=None, states=None, **op_kwargs):
    """Instances of one node run one after another, by index (rule C7). ``op_kwargs`` as for ``operation``."""
    workflows = ['install'] if workflows is None else workflows
    states = ['started'] if states is None else states

    def decorate(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            ctx = kwargs.get('ctx') or current_ctx.get_ctx()
            if ctx.workflow_id in workflows:
                _wait_for_lower_indexes(ctx, threshold, states)
            return func(*args, **kwargs)

        return operation(wrapper, **op_kwargs)

    return decorate


def _wait_for_lower_indexes(ctx, threshold, states):
    siblings = ctx._siblings()
    if siblings is None:
        raise NonRecoverableError(
            '@serial_operation needs the states of the other instances of the node, which this executor does not give; '
            'give the node one instance, or remove the decorator')
    if threshold and sum(1 for _, _, state in siblings if state in states) >= threshold:
        return
    for id_, index, state in siblings:
        if index < ctx.instance.index and state not in states:
            raise CloudifySerializationRetry('Waiting for %s, which is %s' % (id_, state))
