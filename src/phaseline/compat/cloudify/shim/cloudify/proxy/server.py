"""The answering end: walks the context for the words of a request (rule S5)."""

from phaseline.compat.cloudify.ctx_server import serve
from phaseline.compat.cloudify.ctx_commands import walk

__all__ = ('CtxProxy', 'HTTPCtxProxy', 'StubCtxProxy', 'UnixCtxProxy', 'process_ctx_request')


def process_ctx_request(ctx, args):
    """The value that the words lead to."""
    return walk(ctx, args)


class CtxProxy(object):
    """Answers for one context at ``socket_url`` until closed."""

    kind = 'auto'

    def __init__(self, ctx, *args, **kwargs):
        self.ctx = ctx
        self._served = serve(ctx, self.kind)
        self.socket_url = self._served.url

    def close(self):
        self._served.close()


class UnixCtxProxy(CtxProxy):
    kind = 'unix'


class HTTPCtxProxy(CtxProxy):
    kind = 'http'


class StubCtxProxy(object):
    """Answers nothing."""

    socket_url = ''

    def close(self):
        pass
