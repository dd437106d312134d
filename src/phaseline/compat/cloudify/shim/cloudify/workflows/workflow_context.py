"""The context of workflow programs: a later floor."""

from cloudify._later import later

later(globals(), 'CloudifyWorkflowContext CloudifyWorkflowNode CloudifyWorkflowNodeInstance '
                 'CloudifyWorkflowRelationship CloudifyWorkflowRelationshipInstance task_config')
