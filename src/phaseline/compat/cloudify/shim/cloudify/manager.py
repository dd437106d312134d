"""What plugins ask a server for. Here the answers come from the running call, or a clear error says what to do."""

from cloudify._properties import DirtyTrackingDict
from cloudify.exceptions import NonRecoverableError
from cloudify.state import NotInContext, current_ctx

__all__ = (
    'DirtyTrackingDict', 'NodeInstance', 'download_resource', 'get_node_instance', 'get_node_instance_ip',
    'get_resource', 'get_rest_client', 'update_node_instance',
)


class NodeInstance(object):
    """A node instance with its runtime properties; ``update_node_instance`` stores them."""

    def __init__(self, node_instance_id, node_id, runtime_properties=None, state=None, version=None, host_id=None,
                 relationships=None, index=None, scaling_groups=None, system_properties=None, **kwargs):
        self.id = node_instance_id
        self.node_id = node_id
        self._runtime_properties = DirtyTrackingDict(runtime_properties or {})
        self.state = state
        self.version = version
        self.host_id = host_id
        self.relationships = relationships
        self.index = index
        self.scaling_groups = scaling_groups or []
        self.system_properties = system_properties or {}

    @property
    def runtime_properties(self):
        return self._runtime_properties

    @runtime_properties.setter
    def runtime_properties(self, value):
        self._runtime_properties._set_changed()
        self._runtime_properties = DirtyTrackingDict(value)
        self._runtime_properties._set_changed()

    @property
    def dirty(self):
        return self._runtime_properties.dirty

    def get(self, key):
        return self._runtime_properties.get(key)

    def put(self, key, value):
        self._runtime_properties[key] = value

    def delete(self, key):
        del self._runtime_properties[key]

    __getitem__ = get
    __setitem__ = put
    __delitem__ = delete

    def __contains__(self, key):
        return key in self._runtime_properties


def _call():
    try:
        return current_ctx.get_ctx()._call
    except (NotInContext, AttributeError):
        raise NonRecoverableError('cloudify.manager answers only while an operation runs') from None


def secret_of(call, name):
    try:
        return call.world.secret(name)
    except KeyError:
        raise NonRecoverableError(
            "there is no secret '%s'; make it: phaseline secrets create %s" % (name, name)) from None


def get_rest_client(*args, **kwargs):
    """A client that reads secrets; every other request says that there is no server."""
    from cloudify_rest_client import CloudifyClient
    client = CloudifyClient()
    client.secrets = SecretsClient()
    return client


class SecretsClient(object):
    """``client.secrets`` while an operation runs: reading is all that it can do."""

    def get(self, key, **kwargs):
        from cloudify_rest_client.secrets import Secret
        return Secret(key=key, id=key, value=secret_of(_call(), key))

    def __getattr__(self, name):
        from cloudify_rest_client.client import _Resources
        if name.startswith('_'):
            raise AttributeError(name)
        return getattr(_Resources('client.secrets'), name)


def get_node_instance(node_instance_id, evaluate_functions=False, client=None):
    """A node instance of the deployment, as it is known now."""
    call = _call()
    try:
        view = call.world.instance(node_instance_id)
        document = dict(view.runtime_properties)
    except KeyError:
        raise NonRecoverableError("the deployment has no node instance '%s'" % node_instance_id) from None
    if evaluate_functions:
        document = call.world.evaluate(document, call)
    return NodeInstance(
        node_instance_id,
        view.node.name,
        runtime_properties=document,
        state=view.state,
        host_id=view.host,
        index=view.index,
        relationships=[{'type': relationship.type, 'target_id': relationship.target}
                       for relationship in view.relationships],
    )


def update_node_instance(node_instance, client=None):
    """Store the runtime properties of an instance that the running operation is about."""
    ctx = current_ctx.get_ctx()
    for part in (ctx,) if ctx._call.instance is not None else (ctx.source, ctx.target):
        if part.instance.id == node_instance.id:
            part.instance.runtime_properties = node_instance.runtime_properties
            part.instance.update()
            return
    raise NonRecoverableError(
        "this operation may store runtime properties of its own instance only, not of '%s'; map an operation of that "
        "node, or a relationship operation, for it" % node_instance.id)


def get_node_instance_ip(node_instance_id, client=None):
    """The address of the host of a node instance (C5)."""
    from cloudify.context import NodeInstanceContext
    call = _call()
    return NodeInstanceContext(call, call.world.instance(node_instance_id), modifiable=False).host_ip


def get_resource(blueprint_id, deployment_id, tenant_name, resource_path, *args, **kwargs):
    return current_ctx.get_ctx().get_resource(resource_path)


def download_resource(blueprint_id, deployment_id, tenant_name, resource_path, logger=None, target_path=None, **kwargs):
    return current_ctx.get_ctx().download_resource(resource_path, target_path)
