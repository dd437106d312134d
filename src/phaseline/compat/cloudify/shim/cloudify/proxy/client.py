"""The asking end: what a script does with ``CTX_SOCKET_URL`` (rule S5)."""

from phaseline.compat.cloudify.ctx_client import CTX_SOCKET_URL, ask

__all__ = ('CTX_SOCKET_URL', 'RequestError', 'ScriptException', 'client_req')


class ScriptException(Exception):
    """The script ended the operation: for good, or to be retried."""

    def __init__(self, message=None, retry=False):
        super(ScriptException, self).__init__(message)
        self.retry = retry


class RequestError(RuntimeError):
    """The context refused a request."""

    def __init__(self, ex_message, ex_type, ex_traceback):
        super(RequestError, self).__init__('%s: %s' % (ex_type, ex_message))
        self.ex_message = ex_message
        self.ex_type = ex_type
        self.ex_traceback = ex_traceback


def client_req(socket_url, args, timeout=30):
    """The payload that the context answers to ``args``."""
    answer = ask(socket_url, args, timeout)
    payload = answer['payload']
    if answer['type'] == 'error':
        raise RequestError(payload['message'], payload['type'], payload.get('traceback', ''))
    if answer['type'] == 'stop_operation':
        raise SystemExit(payload['message'])
    return payload
