"""A hook class of one's own: a licence server is asked before machines come, and told how many stand afterwards.

Source document 2 has it as an example: "a cloud provider may want to enforce consultation with a license server before
deploying an application".
"""

import json
import urllib.error
import urllib.request
from pathlib import Path

from phaseline import LifecycleHook


class Licences(LifecycleHook):
    """One licence for each machine. ``address``: a file with the address of the server."""

    actions = ("CREATE", "DELETE", "SCALE", "ROLLBACK")
    timeout = 20

    def __init__(self, address):
        self.address = Path(address)

    def get_ordinal(self):
        """Before the placement: racks are looked for only where there is a licence."""
        return 50

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        """Ask for as many as there will be; what the server says to a refusal, people read."""
        if action in {"CREATE", "SCALE"}:
            self.ask(stack, len(machines(current_stack or stack)))

    def do_post_op(self, cnxt, stack, current_stack=None, action=None, is_stack_failure=False):
        """Keep as many as really stand, whatever happened."""
        self.ask(stack, sum(one.state not in {"uninitialized", "deleted"} for one in machines(stack)))

    def ask(self, stack, count):
        """So many for this deployment, neither more nor fewer."""
        body = json.dumps({"who": stack.name, "count": count}).encode()
        request = urllib.request.Request(self.address.read_text().strip(), body)
        try:
            urllib.request.urlopen(request, timeout=10).close()
        except urllib.error.HTTPError as error:
            raise PermissionError(error.read().decode()) from None


def machines(stack):
    """The resources that need a licence."""
    return [one for one in stack.resources.values() if one.is_a("hall.Machine")]
