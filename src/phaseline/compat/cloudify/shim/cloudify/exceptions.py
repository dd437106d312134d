"""What plugins raise, and what the engine makes of it (rule W2)."""

from phaseline.model.graph import plugin_errors as failures


class NonRecoverableError(failures.NonRecoverableError):
    """The operation failed for good; it is not tried again."""

    def __init__(self, *args, **kwargs):
        self.causes = kwargs.pop('causes', None) or []
        super(NonRecoverableError, self).__init__(*args, **kwargs)


class RecoverableError(failures.RecoverableError):
    """The operation failed and may be tried again, after ``retry_after`` seconds if that is given."""

    def __init__(self, message='', retry_after=None, causes=None, **kwargs):
        if retry_after is not None:
            suffix = '[retry_after=%s]' % retry_after
            if suffix not in str(message):
                message = '%s %s' % (message, suffix)
        self.causes = causes or []
        super(RecoverableError, self).__init__(message, retry_after, **kwargs)


class OperationRetry(RecoverableError):
    """The operation itself asks to be called again."""


class CloudifySerializationRetry(RecoverableError):
    """A serial operation waits for an instance with a lower index."""


class HttpException(NonRecoverableError):
    """A resource could not be read: ``url``, status ``code`` and ``message``."""

    def __init__(self, url, code, message, causes=None, **kwargs):
        self.url = url
        self.code = code
        self.message = message
        super(HttpException, self).__init__(str(self), causes=causes, **kwargs)

    def __str__(self):
        return '%s (%s) : %s' % (self.code, self.url, self.message)


class CommandExecutionError(RuntimeError):
    """A command could not even be started."""

    def __init__(self, command, error=None, causes=None):
        self.command = command
        self.error = error
        self.causes = causes or []
        super(CommandExecutionError, self).__init__(str(self))

    def __str__(self):
        return 'Failed executing command: %s.\nerror: %s' % (self.command, self.error)


class CommandExecutionException(Exception):
    """A command ended with an exit code other than 0."""

    def __init__(self, command, error, output, code, causes=None):
        self.command = command
        self.error = error
        self.output = output
        self.code = code
        self.causes = causes or []
        super(CommandExecutionException, self).__init__(str(self))

    def __str__(self):
        return "Command '%s' executed with an error.\ncode: %s\nerror: %s\noutput: %s" % (
            self.command, self.code, self.error or None, self.output or None)


class _WithCauses(object):
    """Takes ``causes`` beside whatever the next class takes."""

    def __init__(self, *args, **kwargs):
        self.causes = kwargs.pop('causes', None) or []
        super(_WithCauses, self).__init__(*args, **kwargs)


class TimeoutException(_WithCauses, Exception):
    """Something took too long."""


class ProcessKillCancelled(NonRecoverableError):
    """The process of the operation was ended by a kill-cancel."""


class ProcessExecutionError(RuntimeError):
    """A subprocess of the engine failed with an error of its own."""

    def __init__(self, message, error_type=None, traceback=None, causes=None, **kwargs):
        super(ProcessExecutionError, self).__init__(message, **kwargs)
        self.message = message
        self.error_type = error_type
        self.traceback = traceback
        self.causes = causes or []

    def __str__(self):
        return '%s: %s' % (self.error_type, self.message) if self.error_type else str(self.message)


class PluginInstallationError(NonRecoverableError):
    """A plugin could not be installed."""


class StopAgent(_WithCauses, Exception):
    """Raised in an agent to make it leave."""


class WorkflowFailed(_WithCauses, RuntimeError):
    """A workflow ended with failed tasks."""


class InvalidBlueprintImport(NonRecoverableError):
    """A blueprint imports what it may not."""
