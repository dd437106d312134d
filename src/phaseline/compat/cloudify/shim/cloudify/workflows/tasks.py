"""Tasks of workflow programs: the words are there, the classes wait for a later floor."""

from cloudify._later import later
from cloudify.constants import (
    TASK_FAILED, TASK_PENDING, TASK_RESCHEDULED, TASK_RESPONSE_SENT, TASK_SENDING, TASK_SENT, TASK_STARTED,
    TASK_SUCCEEDED, TERMINATED_STATES)

INFINITE_TOTAL_RETRIES = -1
DEFAULT_TOTAL_RETRIES = INFINITE_TOTAL_RETRIES
DEFAULT_RETRY_INTERVAL = 30
DEFAULT_SUBGRAPH_TOTAL_RETRIES = 0

later(globals(), 'WorkflowTask RemoteWorkflowTask LocalWorkflowTask NOPLocalWorkflowTask DryRunLocalWorkflowTask '
                 'SubgraphTask HandlerResult WorkflowTaskResult RemoteWorkflowTaskResult LocalWorkflowTaskResult '
                 'retry_failure_handler')
