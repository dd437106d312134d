"""Building blocks for workflow programs: a later floor. ``is_host_node`` works."""

from cloudify._later import later
from cloudify.constants import COMPUTE_NODE_TYPE

later(globals(), 'install_node_instances uninstall_node_instances reinstall_node_instances heal_node_instances '
                 'update_node_instances rollback_node_instances install_node_instance_subgraph '
                 'uninstall_node_instance_subgraph reinstall_node_instance_subgraph heal_node_instance_subgraph '
                 'set_send_node_event_on_error_handler execute_establish_relationships '
                 'execute_unlink_relationships LifecycleProcessor')


def is_host_node(node_instance):
    """True for an instance of a node whose type derives from Compute."""
    return COMPUTE_NODE_TYPE in node_instance.node.type_hierarchy
