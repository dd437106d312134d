"""Graphs of workflow programs: a later floor."""

from cloudify._later import later

later(globals(), 'TaskDependencyGraph SubgraphTask forkjoin make_or_get_graph TaskSequence')
