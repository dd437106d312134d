"""Empty operations in the manner of Cloudify: a real ctx for each call."""

from cloudify.decorators import operation


@operation(resumable=True)
def with_ctx(ctx, **_inputs):
    """One call for each instance, repeatable after a crash."""


@operation
def commit_each(ctx, **_inputs):
    """One call for each instance that must not be called twice: stored before and after, one by one."""
