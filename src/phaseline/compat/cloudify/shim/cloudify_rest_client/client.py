"""A client that can be made anywhere and says at the first request that there is no server."""

from phaseline.model.graph import plugin_errors as failures

from cloudify_rest_client.exceptions import CloudifyClientError


class NoServerError(CloudifyClientError, failures.NonRecoverableError):
    """There is nobody to ask: retrying cannot help."""


class _Resources(object):
    """One kind of resources, such as ``client.deployments``."""

    def __init__(self, path):
        self._path = path

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return _Resources('%s.%s' % (self._path, name))

    def __call__(self, *args, **kwargs):
        raise NoServerError(
            '%s() needs the REST interface of a Cloudify Manager, and Phaseline runs without one. Of its own deployment '
            'an operation finds everything in ctx; what lies in other deployments can be passed as inputs' % self._path)

    def __repr__(self):
        return '<%s>' % self._path


class CloudifyClient(object):
    """Takes what the ancestor's client takes."""

    def __init__(self, host='localhost', port=None, protocol='http', api_version=None, headers=None, query_params=None,
                 cert=None, trust_all=False, username=None, password=None, token=None, tenant=None, **kwargs):
        self.host = host
        self.port = port
        self.protocol = protocol
        self.tenant = tenant

    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        return _Resources('client.%s' % name)
