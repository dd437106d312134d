"""The storage side of a context in the ancestor. Here the engine is that side, so only the name remains."""


class Endpoint(object):
    def __init__(self, ctx):
        self.ctx = ctx


class LocalEndpoint(Endpoint):
    def __init__(self, ctx=None, storage=None):
        Endpoint.__init__(self, ctx)
        self.storage = storage
