"""``ctx``: what an operation can see and say while it runs (rules C3 to C6).

A context is made for every call, so making one costs next to nothing: it keeps the call and builds each part when it
is first touched.
"""

import os
import sys

from phaseline.model.properties import copy_mapping

from cloudify import _resources
from cloudify._properties import DirtyTrackingDict, ImmutableProperties
from cloudify._stored import raw_where_unchanged, storable, with_functions_evaluated
from cloudify.constants import DEPLOYMENT, NODE_INSTANCE, RELATIONSHIP_INSTANCE
from cloudify.exceptions import NonRecoverableError, OperationRetry

__all__ = (
    'DEPLOYMENT', 'NODE_INSTANCE', 'RELATIONSHIP_INSTANCE', 'BlueprintContext', 'BootstrapContext', 'CloudifyContext',
    'ContextCapabilities', 'DeploymentContext', 'ImmutableProperties', 'NodeContext', 'NodeInstanceContext',
    'OperationContext', 'PluginContext', 'RelationshipContext', 'RelationshipSubjectContext',
)


class _lazy(object):
    """An attribute made on first use and kept in the object; it may be replaced by assignment."""

    def __init__(self, make):
        self.make = make
        self.name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.make(instance)
        return value


def _needs_server(what, instead):
    raise NonRecoverableError('%s needs a Cloudify Manager, and Phaseline runs without one; %s' % (what, instead))


class BlueprintContext(object):
    """``ctx.blueprint``."""

    def __init__(self, id):
        self.id = id


class DeploymentContext(object):
    """``ctx.deployment``."""

    def __init__(self, deployment, execution):
        self.id = deployment.id
        self.display_name = deployment.id
        self.description = deployment.description
        self.creator = deployment.creator
        self.inputs = deployment.inputs
        self.tenant_name = execution.tenant
        self.resource_tags = {}
        self.runtime_only_evaluation = False


class NodeContext(object):
    """``ctx.node``: the node template, its properties evaluated."""

    def __init__(self, view):
        self._view = view
        self.id = self.name = view.name
        self.type = view.type

    @_lazy
    def type_hierarchy(self):
        return list(self._view.type_hierarchy)

    @_lazy
    def properties(self):
        """A copy of its own: nothing a call does to it reaches another call."""
        return ImmutableProperties(copy_mapping(self._view.properties))

    @property
    def number_of_instances(self):
        return self._view.instance_count


class NodeInstanceContext(object):
    """``ctx.instance``: the node instance; changes of its runtime properties are stored after the call."""

    _evaluated = None

    def __init__(self, call, view, modifiable=True):
        self._call = call
        self._view = view
        self._modifiable = modifiable
        self.id = view.id

    @_lazy
    def _tracked(self):
        document = self._view.runtime_properties
        evaluated = with_functions_evaluated(document, self._call)
        if evaluated is not document:
            self._evaluated = copy_mapping(evaluated)
        tracked = DirtyTrackingDict(evaluated)
        if not self._modifiable:
            tracked.modifiable = False
        return tracked

    @property
    def runtime_properties(self):
        return self._tracked

    @runtime_properties.setter
    def runtime_properties(self, value):
        self._tracked._set_changed()
        replaced = DirtyTrackingDict(value or {})
        replaced._set_changed()
        self._tracked = replaced

    @_lazy
    def node(self):
        return NodeContext(self._view.node)

    @property
    def index(self):
        return self._view.index

    @_lazy
    def relationships(self):
        return [RelationshipContext(self._call, view) for view in self._view.relationships]

    @property
    def host_ip(self):
        """Runtime property ``ip`` of the host, else its property ``ip`` (C5)."""
        host = self._view.host
        if host is None:
            raise NonRecoverableError("node instance '%s' has no host: no node of it is contained in a "
                                      "cloudify.nodes.Compute" % self.id)
        if host == self.id:
            address = self.runtime_properties.get('ip') or self.node.properties.get('ip')
        else:
            view = self._call.world.instance(host)
            address = view.runtime_properties.get('ip') or view.node.properties.get('ip')
        if not address:
            raise NonRecoverableError("could not find ip for node instance '%s': neither runtime properties nor "
                                      "properties of its host '%s' have 'ip'" % (self.id, host))
        return address

    @property
    def scaling_groups(self):
        return {}

    @property
    def drift(self):
        return None

    def update(self, on_conflict=None):
        """Store the runtime properties now. Changes are merged path by path, so there is nothing to conflict."""
        if '_tracked' not in self.__dict__:
            return
        problems = self._give_back()
        if problems:
            raise NonRecoverableError('; '.join(problems))
        self._call.save()
        self._tracked.dirty = False

    def refresh(self, force=False):
        """Read the runtime properties again; unsaved changes are an error without ``force``."""
        tracked = self.__dict__.get('_tracked')
        if tracked is None:
            return
        if tracked.dirty and not force:
            raise RuntimeError('runtime properties of %s have unsaved changes; call update() first, or '
                               'refresh(force=True) to drop them' % self.id)
        self._view.refresh()
        self.__dict__.pop('_tracked')
        self._evaluated = None

    def _give_back(self):
        """Hand the present document to the engine's view; texts about values that cannot be stored."""
        tracked = self.__dict__.get('_tracked')
        if tracked is None or not self._modifiable:
            return []
        document, problems = storable(tracked, self._view.before or {}, self.id)
        if self._evaluated is not None:
            document = raw_where_unchanged(document, self._evaluated, self._view.before or {})
        self._view.runtime_properties = document
        return problems


class RelationshipSubjectContext(object):
    """``ctx.source``, ``ctx.target`` and the target of a relationship: ``node`` and ``instance``."""

    def __init__(self, call, view, modifiable=True):
        self._call = call
        self._view = view
        self._modifiable = modifiable

    @_lazy
    def instance(self):
        return NodeInstanceContext(self._call, self._view, self._modifiable)

    @property
    def node(self):
        return self.instance.node


class RelationshipContext(object):
    """One of ``ctx.instance.relationships``; runtime properties of its target are read-only."""

    def __init__(self, call, view):
        self._call = call
        self._view = view
        self.type = view.type

    @_lazy
    def type_hierarchy(self):
        return list(self._view.type_hierarchy)

    @_lazy
    def properties(self):
        return ImmutableProperties(copy_mapping(self._view.properties))

    @_lazy
    def target(self):
        return RelationshipSubjectContext(self._call, self._call.world.instance(self._view.target), False)


class OperationContext(object):
    """``ctx.operation``."""

    RETRY = object()

    def __init__(self, call):
        self._call = call
        self._operation_retry = None
        self.name = call.site.operation
        self.retry_number = call.attempt
        self.max_retries = call.site.max_retries
        side = call.site.side
        self.relationship = None if side == 'node' else side

    def retry(self, message=None, retry_after=None):
        """Ask to be called again when this call has returned, ``retry_after`` seconds later or at the interval."""
        if retry_after is not None:
            retry_after = float(retry_after) if '.' in str(retry_after) else int(retry_after)
        self._operation_retry = OperationRetry(message or '', retry_after)
        return self.RETRY


class PluginContext(str):
    """``ctx.plugin``: equal to the plugin's name, with more about it."""

    def __new__(cls, plugin, deployment=None, tenant_name=''):
        self = super(PluginContext, cls).__new__(cls, plugin.name if plugin is not None else '')
        self._deployment = deployment
        self._plugin = plugin
        self.tenant_name = tenant_name
        self.package_name = getattr(plugin, 'package_name', None)
        self.package_version = getattr(plugin, 'package_version', None)
        self.source = getattr(plugin, 'source', None)
        self.properties = {}
        self.prefix = sys.prefix
        return self

    @property
    def name(self):
        return str(self)

    @property
    def workdir(self):
        """A folder that the plugin may keep files in, the same for all its calls of a deployment; made on first use."""
        return _resources.plugin_folder(self._deployment, str(self))


class BootstrapContext(object):
    """``ctx.bootstrap_context``: what a server would have been set up with. Empty here."""

    class _Empty(object):
        def __init__(self, values=None):
            self._values = values or {}

        def __getattr__(self, name):
            if name.startswith('__'):
                raise AttributeError(name)
            return self._values.get(name)

    def __init__(self, bootstrap_context=None):
        self._bootstrap_context = bootstrap_context or {}
        self.cloudify_agent = self._Empty(self._bootstrap_context.get('cloudify_agent'))
        self.resources_prefix = self._bootstrap_context.get('resources_prefix', '')

    def broker_config(self, *args, **kwargs):
        return {}


class ContextCapabilities(object):
    """``ctx.capabilities`` (deprecated): runtime properties of all instances that this one is related to."""

    def __init__(self, endpoint=None, instance=None):
        self._instance = instance

    def get_all(self):
        return {
            relationship.target.instance.id: relationship.target.instance.runtime_properties
            for relationship in (self._instance.relationships if self._instance is not None else ())
        }

    def _find(self, key):
        found = [properties[key] for properties in self.get_all().values() if key in properties]
        if len(found) > 1:
            raise LookupError("'%s' capability ambiguity" % key)
        return found

    def __getitem__(self, key):
        found = self._find(key)
        if not found:
            raise LookupError("capability '%s' not found" % key)
        return found[0]

    def __contains__(self, key):
        return bool(self._find(key))

    def __str__(self):
        return '<%s %s>' % (type(self).__name__, self.get_all())


class _Agent(object):
    """``ctx.agent``."""

    def init_script(self, *args, **kwargs):
        _needs_server('ctx.agent.init_script()', 'set agent_config.install_method: none on the host')


class CloudifyContext(object):
    """The context of one call."""

    def __init__(self, call):
        if isinstance(call, dict):
            from cloudify._mapping_call import MappingCall
            call = MappingCall(call)
        self._call = call

    # What the call is about

    @_lazy
    def type(self):
        if self._call.instance is not None:
            return NODE_INSTANCE
        return DEPLOYMENT if self._call.source is None else RELATIONSHIP_INSTANCE

    @_lazy
    def instance(self):
        view = self._call.instance
        if view is None:
            self._wrong_context('instance', NODE_INSTANCE)
        return NodeInstanceContext(self._call, view)

    @_lazy
    def node(self):
        if self._call.instance is None:
            self._wrong_context('node', NODE_INSTANCE)
        return self.instance.node

    @_lazy
    def source(self):
        return self._subject('source')

    @_lazy
    def target(self):
        return self._subject('target')

    def _subject(self, side):
        view = getattr(self._call, side)
        if view is None:
            self._wrong_context(side, RELATIONSHIP_INSTANCE)
        return RelationshipSubjectContext(self._call, view)

    def _wrong_context(self, name, wanted):
        raise NonRecoverableError(
            'ctx.%s can only be used in a %s context but used in a %s context.' % (name, wanted, self.type))

    @_lazy
    def operation(self):
        return OperationContext(self._call)

    @_lazy
    def plugin(self):
        return PluginContext(self._call.site.plugin, self._call.site.deployment, self.tenant_name)

    @_lazy
    def blueprint(self):
        return BlueprintContext(self._call.site.deployment.blueprint)

    @_lazy
    def deployment(self):
        return DeploymentContext(self._call.site.deployment, self._call.site.execution)

    @property
    def execution_id(self):
        return self._call.site.execution.id

    @property
    def workflow_id(self):
        return self._call.site.execution.workflow

    @_lazy
    def workflow_parameters(self):
        return copy_mapping(self._call.site.execution.parameters)

    @property
    def execution_creator_username(self):
        return self._call.site.execution.creator

    @property
    def decisions(self):
        """What a pre hook decided for this instance."""
        instance = self._call.instance
        return dict(self._call.site.execution.decisions.get(instance.id, {})) if instance is not None else {}

    @property
    def token(self):
        """Equal for all attempts of this call: a cloud's client token."""
        return self._call.token

    @property
    def task_id(self):
        return self._call.token

    @property
    def task_name(self):
        return self._call.site.implementation

    @property
    def tenant_name(self):
        return self._call.site.execution.tenant

    @property
    def tenant(self):
        return {'name': self.tenant_name}

    @property
    def resume(self):
        return self._call.site.execution.is_resumed

    @property
    def timeout(self):
        return self._call.site.timeout_s or None

    @property
    def timeout_recoverable(self):
        return self._call.site.timeout_recoverable

    task_queue = task_target = None
    execution_token = rest_host = rest_port = rest_token = None
    bypass_maintenance = False
    local = True
    dry_run = False

    @_lazy
    def execution_env(self):
        return {}

    @_lazy
    def provider_context(self):
        return {}

    @_lazy
    def bootstrap_context(self):
        return BootstrapContext()

    @_lazy
    def capabilities(self):
        return ContextCapabilities(None, self.instance)

    @_lazy
    def agent(self):
        return _Agent()

    # Saying

    @_lazy
    def logger(self):
        from cloudify.logs import call_logger
        return call_logger(self._call)

    def send_event(self, event):
        self._call.log('info', str(event))

    # Files (C6)

    @_lazy
    def _files(self):
        return _resources.Resources(self)

    def get_resource(self, resource_path):
        return self._files.get(resource_path)

    def get_resource_and_render(self, resource_path, template_variables=None):
        return self._files.get_and_render(resource_path, template_variables)

    def download_resource(self, resource_path, target_path=None):
        return self._files.download(resource_path, target_path)

    def download_resource_and_render(self, resource_path, target_path=None, template_variables=None):
        return self._files.download_and_render(resource_path, target_path, template_variables)

    def download_directory(self, path, target_path=None):
        return self._files.download_directory(path, target_path)

    # What a server would answer

    def get_operation(self):
        _needs_server('ctx.get_operation()', 'keep what the next attempt must know in runtime properties')

    def update_operation(self, state, result=None, exception=None):
        _needs_server('ctx.update_operation()', 'return the result, or raise the error')

    def get_execution(self, execution_id=None):
        _needs_server('ctx.get_execution()', 'ctx.execution_id and ctx.workflow_id say which execution this is')

    def get_config(self, name=None, scope=None):
        _needs_server('ctx.get_config()', 'pass configuration as inputs of the operation')

    def get_managers(self, network='default'):
        return []

    def get_brokers(self, network='default'):
        return []

    def upload_deployment_file(self, *args, **kwargs):
        _needs_server('ctx.upload_deployment_file()', 'keep files in ctx.plugin.workdir')

    def sync_deployment_workdir(self, *args, **kwargs):
        _needs_server('ctx.sync_deployment_workdir()', 'keep files in ctx.plugin.workdir')

    # For the engine

    def _siblings(self):
        """(id, index, state) of all instances of the node (C7); None where the executor cannot tell."""
        world = getattr(self._call, 'world', None)
        if world is None:
            return None
        return [(id_, world.instance(id_).index, world.instance(id_).state) for id_ in world.instances_of(self.node.name)]

    def _give_back(self):
        """Hand runtime properties that were looked at to the engine; texts about values that cannot be stored."""
        here = self.__dict__
        if 'instance' in here:
            return here['instance']._give_back()
        problems = []
        for side in ('source', 'target'):
            if side in here and 'instance' in here[side].__dict__:
                problems += here[side].instance._give_back()
        return problems

    @property
    def _retry(self):
        """What ``ctx.operation.retry`` left."""
        operation = self.__dict__.get('operation')
        return operation._operation_retry if operation is not None else None

    def __repr__(self):
        return '<ctx of %s>' % (self._call.site.operation,)
