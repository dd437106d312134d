"""Names that can be imported but need a later floor of Phaseline: using one says so."""

from cloudify.exceptions import NonRecoverableError


class Later(object):
    """Stands for a function, class or object that does not work yet."""

    def __init__(self, name, instead):
        self.__name__ = name
        self.__doc__ = '%s is not available yet: %s.' % (name, instead)

    def _refuse(self):
        raise NonRecoverableError(self.__doc__)

    def __call__(self, *args, **kwargs):
        self._refuse()

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        self._refuse()

    def __repr__(self):
        return '<%s (not available yet)>' % self.__name__


PROGRAMS = 'workflows written as Python programs do not run yet; the built-in install and uninstall do'


def later(module, names, instead=PROGRAMS):
    """Put ``names`` into a module."""
    for name in names.split():
        module[name] = Later('%s.%s' % (module['__name__'], name), instead)
