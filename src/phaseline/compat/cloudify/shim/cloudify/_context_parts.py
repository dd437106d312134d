"""What ``ctx`` is made of: the instance, its node, the other end of a relationship, the operation, and what lies around."""

import sys

from phaseline.model.deployment.runtime_properties import copy_mapping
from phaseline.calls.protocol.plugin_boundary import milliseconds

from cloudify import _resources
from cloudify._properties import DirtyTrackingDict, ImmutableProperties
from cloudify._stored import raw_where_unchanged, storable, with_functions_evaluated
from cloudify.exceptions import NonRecoverableError, OperationRetry, RecoverableError


MAX_CONFLICTS = 100
"""So often a handler is asked for what is to be stored while others change it in between."""


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
        self.display_name = deployment.display_name or deployment.id
        self.description = deployment.description
        self.creator = deployment.creator
        self.inputs = deployment.inputs
        self.tenant_name = execution.tenant
        self.resource_tags = dict(deployment.resource_tags)
        self.runtime_only_evaluation = deployment.runtime_only


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
    def system_properties(self):
        """What checks have found: ``status``, ``configuration_drift`` and so on."""
        return dict(self._call.world.system_properties(self._view))

    @property
    def drift(self):
        """What the last ``check_drift`` returned."""
        return (self.system_properties.get('configuration_drift') or {}).get('result')

    def update(self, on_conflict=None):
        """Store the runtime properties now; changes are merged path by path.

        ``on_conflict(local, latest)`` gives what is stored instead. It is called again, with what was left here by then, for as
        long as somebody else has changed them in between.
        """
        if on_conflict is not None:
            self._update_by(on_conflict)
        elif '_tracked' in self.__dict__:
            self._check_storable()
            self._call.save()
            self._tracked.dirty = False

    def _update_by(self, on_conflict):
        local = dict(self.runtime_properties)
        latest = copy_mapping(local)
        for _ in range(MAX_CONFLICTS):
            self.runtime_properties = on_conflict(copy_mapping(local), latest)
            self._check_storable()
            if self._call.save_unless_stale():
                self._tracked.dirty = False
                return
            self.refresh(force=True)
            latest = copy_mapping(self.runtime_properties)
        raise RecoverableError('runtime properties of %s were changed by others during each of %d attempts to update them'
                               % (self.id, MAX_CONFLICTS))

    def _check_storable(self):
        problems = self._give_back()
        if problems:
            raise NonRecoverableError('; '.join(problems))

    def refresh(self, force=False):
        """Read the runtime properties again; unsaved changes are an error without ``force``."""
        tracked = self.__dict__.get('_tracked')
        if tracked is None:
            return
        if tracked.dirty and not force:
            raise NonRecoverableError('runtime properties of %s have unsaved changes; call update() first, or '
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
            milliseconds(retry_after)  # refuses what is no number of seconds
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
