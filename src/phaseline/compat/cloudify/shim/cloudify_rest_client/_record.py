"""A resource as the REST interface gives it: a mapping whose keys are attributes."""


class Record(dict):
    def __init__(self, record=None, **values):
        dict.__init__(self, record or {}, **values)

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return self.get(name)
