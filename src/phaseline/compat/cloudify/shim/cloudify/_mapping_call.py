"""A call made of a mapping: ``CloudifyContext({...})`` as unit tests of plugins build it."""

from phaseline.calls.protocol.call import DeploymentContext, ExecutionContext, InstanceContext, NodeContext, Site


class _Code(object):
    def __init__(self, folder):
        self.blueprint_folder = folder
        self.plugin_folders = ()


class _MappingWorld(object):
    """Knows the one instance of the mapping."""

    def __init__(self, values):
        self._values = values
        self._document = dict(values.get('runtime_properties') or {})

    def instance(self, id):
        return InstanceContext(id, 1, 0, self)

    def node(self, instance):
        values = self._values
        name = values.get('node_name') or values.get('node_id')
        type_ = values.get('node_type') or ''
        return NodeContext(name, type_, tuple(values.get('type_hierarchy') or (type_,)),
                        dict(values.get('node_properties') or {}))

    def document(self, instance):
        return self._document

    def relationships(self, instance):
        return ()

    def host(self, instance):
        return None

    def instances_of(self, node):
        return [self._values['node_id']] if self._values.get('node_id') else []

    def state(self, instance):
        return 'uninitialized'

    def evaluate(self, value, call):
        return value

    def secret(self, name):
        raise KeyError(name)


class MappingCall(object):
    """Has what a context needs of a call; what it says goes to the log of the process."""

    def __init__(self, values):
        operation = values.get('operation') or {}
        if not isinstance(operation, dict):
            operation = {'name': getattr(operation, 'name', str(operation))}
        self.world = _MappingWorld(values)
        tenant = values.get('tenant') or {}
        self.site = Site(
            operation=operation.get('name', ''),
            form='function',
            implementation=values.get('task_name') or '',
            execution=ExecutionContext(
                id=values.get('execution_id') or '',
                workflow=values.get('workflow_id') or '',
                parameters=dict(values.get('workflow_parameters') or {}),
                tenant=(tenant.get('name') if isinstance(tenant, dict) else str(tenant)) or 'default_tenant',
            ),
            deployment=DeploymentContext(
                id=values.get('deployment_id') or '',
                blueprint=values.get('blueprint_id') or '',
                code=_Code(values.get('blueprint_folder') or '.'),
            ),
            max_retries=operation.get('max_retries', 0) or 0,
        )
        self.member = 0
        self.inputs = {}
        self.attempt = operation.get('retry_number', 0) or 0
        self.token = values.get('task_id') or ''
        self.data = None
        id_ = values.get('node_id')
        self.instance = self.world.instance(id_) if id_ else None
        self.source = self.target = None
        self.is_canceled = False

    def log(self, level, text):
        import logging
        logging.getLogger('cloudify.ctx').log(getattr(logging, level.upper(), logging.INFO), '%s', text)

    def save_unless_stale(self):
        self.save()
        return True

    def save(self):
        for view in (self.instance, self.source, self.target):
            if view is not None and view.before is not None:
                self.world._document = dict(view.runtime_properties)
