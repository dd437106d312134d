"""One event, as listeners of the ancestor read it."""


class Event(object):
    """Reads a mapping with ``message``, ``context``, ``timestamp`` and ``event_type`` or ``level``."""

    def __init__(self, event, verbosity_level=None):
        self._event = event
        self._verbosity_level = verbosity_level

    def __str__(self):
        deployment = '<%s> ' % self.deployment_id if self.deployment_id else ''
        place = '.'.join(part for part in (self.node_id, self.operation) if part)
        return '%s CFY %s%s%s' % (self.timestamp, deployment, '[%s] ' % place if place else '', self.text)

    @property
    def _context(self):
        return self._event.get('context') or {}

    @property
    def text(self):
        message = self._event.get('message') or {}
        return message.get('text', '') if isinstance(message, dict) else str(message)

    @property
    def timestamp(self):
        return self._event.get('@timestamp') or self._event.get('timestamp') or ''

    @property
    def event_type(self):
        return self._event.get('event_type')

    @property
    def log_level(self):
        return self._event.get('level')

    @property
    def is_log_message(self):
        return 'cloudify_log' in self._event.get('type', '')

    @property
    def deployment_id(self):
        return self._context.get('deployment_id')

    @property
    def node_id(self):
        return self._context.get('node_id')

    @property
    def operation(self):
        operation = self._context.get('operation')
        return operation.split('.')[-1] if operation else None

    @property
    def workflow_id(self):
        return self._context.get('workflow_id')
