"""Contexts without an engine, for the unit tests of plugins."""

from cloudify.context import BootstrapContext, CloudifyContext, ContextCapabilities
from cloudify.utils import setup_logger

__all__ = (
    'MockCloudifyContext', 'MockContext', 'MockNodeContext', 'MockNodeInstanceContext', 'MockRelationshipContext',
    'MockRelationshipSubjectContext',
)


class MockContext(dict):
    """A mapping whose keys are attributes too."""

    def __init__(self, values=None):
        dict.__init__(self, values or {})

    def __getattr__(self, item):
        try:
            return self[item]
        except KeyError:
            raise AttributeError(item) from None

    def __setattr__(self, item, value):
        self[item] = value


class MockRelationshipSubjectContext(object):
    def __init__(self, node, instance):
        self.node = node
        self.instance = instance


class MockRelationshipContext(object):
    def __init__(self, target, type=None, type_hierarchy=None):
        self.target = target
        self.type = type
        self.type_hierarchy = type_hierarchy if type_hierarchy is not None else [type]


class MockNodeInstanceContext(object):
    def __init__(self, id=None, runtime_properties=None, relationships=None, index=None, **kwargs):
        self.id = self._id = id
        self.runtime_properties = self._runtime_properties = (
            runtime_properties if runtime_properties is not None else {})
        self.relationships = self._relationships = relationships if relationships is not None else []
        self.index = index
        for name, value in kwargs.items():
            setattr(self, name, value)

    def update(self, on_conflict=None):
        if on_conflict is not None:
            self.runtime_properties = self._runtime_properties = on_conflict(
                dict(self.runtime_properties), dict(self.runtime_properties))

    def refresh(self, force=False):
        return None


class MockNodeContext(object):
    def __init__(self, id=None, properties=None, type=None, type_hierarchy=None, **kwargs):
        self.id = self.name = self._id = id
        self.properties = self._properties = properties
        self.type = self._type = type
        self.type_hierarchy = type_hierarchy if type_hierarchy is not None else [type]
        for name, value in kwargs.items():
            setattr(self, name, value)


class MockCloudifyContext(CloudifyContext):
    """A whole context of given parts."""

    def __init__(self, node_id=None, node_name=None, blueprint_id=None, deployment_id=None, execution_id=None,
                 properties=None, runtime_properties=None, relationships=None, capabilities=None, related=None,
                 source=None, target=None, operation=None, resources=None, tenant=None, rest_token=None,
                 provider_context=None, bootstrap_context=None, config=None, node_type=None, **more):
        CloudifyContext.__init__(self, {
            'blueprint_id': blueprint_id,
            'deployment_id': deployment_id,
            'execution_id': execution_id,
            'node_id': node_id,
            'node_name': node_name,
            'node_type': node_type,
            'node_properties': properties,
            'operation': operation,
            'tenant': tenant,
        })
        self._properties = properties or {}
        self._runtime_properties = runtime_properties if runtime_properties is not None else {}
        self._resources = resources or {}
        self._related = related
        self._config = config
        self._tenant = tenant or {}
        self._rest_token = rest_token
        self.provider_context = provider_context or {}
        self.bootstrap_context = bootstrap_context or BootstrapContext({})
        self.logger = setup_logger('mock-context-logger')
        if capabilities is not None and not isinstance(capabilities, ContextCapabilities):
            raise ValueError('capabilities of MockCloudifyContext must be ContextCapabilities, not %s' % capabilities)
        if node_id:
            self.instance = self._instance = MockNodeInstanceContext(
                id=node_id, runtime_properties=self._runtime_properties, relationships=relationships)
            self.node = self._node = MockNodeContext(node_name, properties, node_type)
            self.capabilities = capabilities or ContextCapabilities(None, self.instance)
        if target is not None and source is None:
            source = MockContext({'instance': None, 'node': None})
        if source is not None:
            self.source = self._source = source
        if target is not None:
            self.target = self._target = target
        if (source is not None or target is not None) and not node_id:
            self.type = 'relationship-instance'
        for name, value in more.items():
            setattr(self, name, value)

    @property
    def tenant(self):
        return self._tenant

    @property
    def rest_token(self):
        return self._rest_token

    def send_event(self, event):
        self.logger.info('%s', event)

    def _resource(self, resource_path):
        if resource_path not in self._resources:
            raise RuntimeError("Resource '%s' was not found. Available resources: %s"
                               % (resource_path, sorted(self._resources)))
        return self._resources[resource_path]

    def get_resource(self, resource_path):
        return self._resource(resource_path)

    def download_resource(self, resource_path, target_path=None):
        if target_path:
            raise RuntimeError('MockCloudifyContext downloads nothing: leave target_path away')
        return self._resource(resource_path)

    def get_config(self, name=None, scope=None):
        return self._config or []

    def __contains__(self, key):
        return key in self._properties or key in self._runtime_properties

    def __getitem__(self, key):
        return self._properties[key] if key in self._properties else self._runtime_properties[key]

    def __setitem__(self, key, value):
        self._runtime_properties[key] = value
