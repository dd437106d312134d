"""Small services that plugins borrow."""

import importlib
import logging
import os
import random
import shlex
import string
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from functools import wraps

from phaseline.compat.cloudify.temp_folder import place_for_executables

from cloudify.constants import KEEP_TRYING_HTTP_TOTAL_TIMEOUT_SEC, MAX_WAIT_BETWEEN_HTTP_RETRIES_SEC
from cloudify.exceptions import CommandExecutionError, CommandExecutionException, NonRecoverableError
from cloudify.state import NotInContext, current_ctx, current_workflow_ctx

ENV_CFY_EXEC_TEMPDIR = 'CFY_EXEC_TEMP'


def exception_to_error_cause(exception, tb):
    """{message, type, traceback} for ``causes=`` of another exception. ``tb`` is a traceback object or its text."""
    text = tb if isinstance(tb, str) else ''.join(traceback.format_exception(type(exception), exception, tb))
    return {'message': str(exception), 'type': type(exception).__name__, 'traceback': text}


def setup_logger(logger_name, logger_level=logging.INFO, handlers=None, remove_existing_handlers=True,
                 logger_format=None, propagate=True):
    """A registered logger with handlers of its own (standard output by default)."""
    logger = logging.getLogger(logger_name)
    if remove_existing_handlers:
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
    for handler in handlers if handlers is not None else [logging.StreamHandler(sys.stdout)]:
        if handler.formatter is None or logger_format:
            handler.setFormatter(logging.Formatter(
                logger_format or '%(asctime)s [%(levelname)s] [%(name)s] %(message)s', datefmt='%H:%M:%S'))
        logger.addHandler(handler)
    logger.setLevel(logger_level)
    logger.propagate = propagate
    return logger


def id_generator(size=6, chars=string.ascii_uppercase + string.digits):
    """Random text; not a secret."""
    return ''.join(random.choice(chars) for _ in range(size))


def get_tenant_name():
    """The tenant of the running call."""
    for current in (current_ctx, current_workflow_ctx):
        try:
            return current.get_ctx().tenant_name
        except NotInContext:
            continue
    raise NotInContext('get_tenant_name() answers only while an operation or workflow runs')


get_tenant = get_tenant_name


def get_exec_tempdir():
    """The folder for temporary files that are executed."""
    return str(place_for_executables())


def create_temp_folder():
    """A new empty folder."""
    return tempfile.mkdtemp(dir=get_exec_tempdir())


def get_func(task_name):
    """The function ``module.function``. NonRecoverableError if it cannot be had."""
    module_name, _, function_name = task_name.rpartition('.')
    if not module_name:
        raise NonRecoverableError("'%s' names no function; write module.function" % task_name)
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise NonRecoverableError("No module named '%s' (%s)" % (module_name, error)) from error
    try:
        return getattr(module, function_name)
    except AttributeError:
        raise NonRecoverableError("module '%s' has no function '%s'" % (module_name, function_name)) from None


class OutputConsumer(object):
    """Logs the lines of a stream with a prefix in a thread of its own, and keeps them in ``output``; ``ctx`` is set there."""

    def __init__(self, out, logger=None, prefix='', ctx=None):
        self.out = out
        self.output = []
        self.logger = logger
        self.prefix = prefix
        self.ctx = ctx
        self.consumer = threading.Thread(target=self.consume_output, daemon=True)
        self.consumer.start()

    def consume_output(self):
        if self.ctx is None:
            self._consume()
        else:
            with current_ctx.push(self.ctx):
                self._consume()

    def _consume(self):
        for line in self.out:
            line = line.decode('utf-8', 'replace') if isinstance(line, bytes) else line
            self.output.append(line)
            self.handle_line(line)
        self.out.close()

    def handle_line(self, line):
        if self.logger is not None:
            self.logger.info('%s%s', self.prefix, line.rstrip('\r\n'))

    def join(self, timeout=None):
        self.consumer.join(timeout)


LoggingOutputConsumer = OutputConsumer


class CommandExecutionResponse(object):
    """What came of a command."""

    def __init__(self, command, std_out, std_err, return_code):
        self.command = command
        self.std_out = std_out
        self.std_err = std_err
        self.return_code = return_code


class LocalCommandRunner(object):
    """Runs commands on this machine."""

    def __init__(self, logger=None, host='localhost'):
        self.logger = logger or logging.getLogger('LocalCommandRunner')
        self.host = host

    def run(self, command, exit_on_failure=True, stdout_pipe=True, stderr_pipe=True, cwd=None, execution_env=None,
            encoding='utf-8'):
        """Run a command (text or list). CommandExecutionException for an exit code other than 0."""
        words = shlex.split(command) if isinstance(command, str) else command
        shown = command if isinstance(command, str) else ' '.join(command)
        self.logger.debug('[%s] run: %s', self.host, shown)
        environment = dict(os.environ)
        environment.update(execution_env or {})
        try:
            process = subprocess.Popen(
                words,
                stdout=subprocess.PIPE if stdout_pipe else None,
                stderr=subprocess.PIPE if stderr_pipe else None,
                cwd=cwd,
                env=environment,
            )
        except OSError as error:
            raise CommandExecutionError(shown, str(error)) from error
        out, err = process.communicate()
        out = out.rstrip().decode(encoding, 'replace') if out is not None else None
        err = err.rstrip().decode(encoding, 'replace') if err is not None else None
        if process.returncode != 0:
            failure = CommandExecutionException(command=shown, error=err, output=out, code=process.returncode)
            if exit_on_failure:
                raise failure
            self.logger.error('%s', failure)
        return CommandExecutionResponse(shown, out, err, process.returncode)


def keep_trying_http(total_timeout_sec=KEEP_TRYING_HTTP_TOTAL_TIMEOUT_SEC,
                     max_delay_sec=MAX_WAIT_BETWEEN_HTTP_RETRIES_SEC):
    """Call the function again while the network fails, with growing pauses, until the time is up."""

    def decorate(func):
        @wraps(func)
        def wrapper(*args, **kwargs):
            deadline = None if total_timeout_sec is None else time.monotonic() + total_timeout_sec
            pause = 1.0
            while True:
                try:
                    return func(*args, **kwargs)
                except Exception as error:
                    if not _is_network_error(error) or (deadline is not None and time.monotonic() + pause > deadline):
                        raise
                    time.sleep(pause * random.uniform(0.5, 1))
                    pause = min(pause * 2, max_delay_sec)

        return wrapper

    return decorate


def _is_network_error(error):
    requests = sys.modules.get('requests')
    if requests is not None and isinstance(error, (requests.exceptions.ConnectionError, requests.exceptions.Timeout)):
        return True
    return isinstance(error, (ConnectionError, TimeoutError))


def extract_archive(source):
    """Unpack a zip or tar file into a new folder and return that folder. Members may not leave it."""
    import tarfile
    import zipfile
    folder = create_temp_folder()
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            archive.extractall(folder)
    elif tarfile.is_tarfile(source):
        with tarfile.open(source) as archive:
            archive.extractall(folder, filter='data')
    else:
        raise NonRecoverableError("'%s' is neither a zip nor a tar archive" % source)
    return folder
