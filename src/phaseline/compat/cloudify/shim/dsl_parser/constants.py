"""Words of plans and blueprints that plugins and tools import by name."""

(INPUTS, OUTPUTS, CAPABILITIES, PLUGINS, WORKFLOWS, GROUPS, POLICIES, RELATIONSHIPS, NODE_TYPES, NODE_TEMPLATES, DATA_TYPES,
 POLICY_TYPES, POLICY_TRIGGERS, IMPORTS, METADATA, DESCRIPTION, DSL_DEFINITIONS, LABELS, BLUEPRINT_LABELS, RESOURCE_TAGS,
 DEPLOYMENT_SETTINGS, DEFAULT_SCHEDULES, IMPORTED_BLUEPRINTS, NAMESPACES_MAPPING) = (
    'inputs', 'outputs', 'capabilities', 'plugins', 'workflows', 'groups', 'policies', 'relationships', 'node_types',
    'node_templates', 'data_types', 'policy_types', 'policy_triggers', 'imports', 'metadata', 'description',
    'dsl_definitions', 'labels', 'blueprint_labels', 'resource_tags', 'deployment_settings', 'default_schedules',
    'imported_blueprints', 'namespaces_mapping')
(INTERFACES, SOURCE_INTERFACES, TARGET_INTERFACES, PROPERTIES, RUNTIME_PROPERTIES, PARAMETERS, TYPE, TYPE_HIERARCHY,
 DERIVED_FROM, DEFAULT, CONSTRAINTS, ITEM_TYPE, DISPLAY_LABEL, HIDDEN) = (
    'interfaces', 'source_interfaces', 'target_interfaces', 'properties', 'runtime_properties', 'parameters', 'type',
    'type_hierarchy', 'derived_from', 'default', 'constraints', 'item_type', 'display_label', 'hidden')

HOST_TYPE = 'cloudify.nodes.Compute'
DEPENDS_ON_REL_TYPE = 'cloudify.relationships.depends_on'
CONTAINED_IN_REL_TYPE = 'cloudify.relationships.contained_in'
CONNECTED_TO_REL_TYPE = 'cloudify.relationships.connected_to'
SCALING_POLICY = 'cloudify.policies.scaling'

CENTRAL_DEPLOYMENT_AGENT = 'central_deployment_agent'
HOST_AGENT = 'host_agent'
PLUGIN_EXECUTOR_KEY, PLUGIN_SOURCE_KEY, PLUGIN_INSTALL_KEY, PLUGIN_NAME_KEY = 'executor', 'source', 'install', 'name'
PLUGIN_INSTALL_ARGUMENTS_KEY = 'install_arguments'
PLUGIN_PACKAGE_NAME, PLUGIN_PACKAGE_VERSION = 'package_name', 'package_version'
PLUGIN_SUPPORTED_PLATFORM, PLUGIN_DISTRIBUTION = 'supported_platform', 'distribution'
PLUGIN_DISTRIBUTION_VERSION, PLUGIN_DISTRIBUTION_RELEASE = 'distribution_version', 'distribution_release'
PLUGINS_TO_INSTALL = 'plugins_to_install'
DEPLOYMENT_PLUGINS_TO_INSTALL = 'deployment_plugins_to_install'
WORKFLOW_PLUGINS_TO_INSTALL = 'workflow_plugins_to_install'
HOST_AGENT_PLUGINS_TO_INSTALL = 'host_agent_plugins_to_install'
