"""Local environments of the ancestor's own engine: not reproduced."""

from cloudify._later import later

later(globals(), 'init_env load_env FileStorage InMemoryStorage',
      'run the blueprint with `phaseline install FILE`, or unit tests of operations with cloudify.mocks')
