"""``ctx``: what an operation can see and say while it runs (rules C3 to C6).

A context is made for every call, so making one costs next to nothing: it keeps the call and builds each part when it
is first touched.
"""

from phaseline.model.deployment.runtime_properties import copy_mapping

from cloudify import _resources
from cloudify._context_parts import (
    BlueprintContext,
    BootstrapContext,
    ContextCapabilities,
    DeploymentContext,
    NodeContext,
    NodeInstanceContext,
    OperationContext,
    PluginContext,
    RelationshipContext,
    RelationshipSubjectContext,
    _Agent,
    _lazy,
    _needs_server,
)
from cloudify._properties import ImmutableProperties
from cloudify.constants import DEPLOYMENT, NODE_INSTANCE, RELATIONSHIP_INSTANCE
from cloudify.exceptions import NonRecoverableError

__all__ = (
    'DEPLOYMENT', 'NODE_INSTANCE', 'RELATIONSHIP_INSTANCE', 'BlueprintContext', 'BootstrapContext', 'CloudifyContext',
    'ContextCapabilities', 'DeploymentContext', 'ImmutableProperties', 'NodeContext', 'NodeInstanceContext',
    'OperationContext', 'PluginContext', 'RelationshipContext', 'RelationshipSubjectContext',
)


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
    execution_token = rest_host = rest_port = rest_token = rest_ssl_cert = None
    task_type = 'operation'
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

    def get_secret(self, name):
        """The text of a secret; masked from now on in whatever Phaseline writes."""
        from cloudify.manager import secret_of
        return secret_of(self._call, name)

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

    def delete_deployment_file(self, *args, **kwargs):
        _needs_server('ctx.delete_deployment_file()', 'keep files in ctx.plugin.workdir')

    def download_deployment_workdir(self, *args, **kwargs):
        _needs_server('ctx.download_deployment_workdir()', 'keep files in ctx.plugin.workdir')

    def upload_deployment_workdir(self, *args, **kwargs):
        _needs_server('ctx.upload_deployment_workdir()', 'keep files in ctx.plugin.workdir')

    def local_deployment_workdir(self):
        """A folder of the deployment for files of its own; here that of the plugin."""
        return self.plugin.workdir

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
