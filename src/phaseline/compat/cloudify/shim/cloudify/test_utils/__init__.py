"""Tests of whole workflows in the ancestor's engine: not reproduced."""

from cloudify._later import later

later(globals(), 'workflow_test', 'test operations with cloudify.mocks, whole blueprints with `phaseline install`')
