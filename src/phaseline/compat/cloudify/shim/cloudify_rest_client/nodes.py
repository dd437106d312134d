"""The resource of this name of the REST interface."""

from cloudify_rest_client._record import Record


class Node(Record):
    pass
