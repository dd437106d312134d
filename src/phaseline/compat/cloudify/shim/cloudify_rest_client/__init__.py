"""The client of a Cloudify Manager. There is none here: every request says so and what to do instead."""

from cloudify_rest_client.client import CloudifyClient

__all__ = ('CloudifyClient',)
