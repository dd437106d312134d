"""The samples of source document 1, "Phase Plugins": unchanged but for ``except ... as``, which they had without ``as``.

What they leave to their reader is written by the tests.
"""

FIRST = """
import acme

def handle(handler):
  for node in handler.getResources():
    # convert node settings to the format that acme uses
    instance_params = _convert_node_to_instance(node)
    # look up the keys for this node
    creds = _lookup_credentials(node.getAsString("Credentials"))
    # create the instance
    instance_id = acme.create_instance(creds, instance_params)
    # update the node with the instance id
    node.setString("InstanceId", instance_id)
    handler.setCompleted(node)
"""
ONE_BY_ONE = """
import subprocess

def handle(handler):
    for resource in handler.getResources():
        try:
            subprocess.check_call(["ssh", "user@remotehost", "touch", resource.getAsString("Name")])
            handler.setCompleted(resource)
        except subprocess.CalledProcessError as e:
            handler.setFailed(resource, "Failed to create file: %s" % e)
"""
IN_BULK = """
import subprocess

def handle(handler):
    args = ["ssh", "user@remotehost", "touch"]
    args.extend([resource.getAsString("Name") for resource in handler.getResources()])
    subprocess.check_call(args)
    handler.setCompleted(handler.getResources())
"""
ASYNCHRONOUS = """
def handle(handler):
    for node in handler.getResources():
        phase_data = handler.getResourcePhaseData(node)

        if not phase_data.isDefined("Directory"):
            # run the command and get the temporary directory with its output
            dirname = _call_remote_command(node)
            phase_data.setString("Directory", dirname)
        else:
            dirname = phase_data.getAsString("Directory")
            # ssh to the machine and determine if done
            completed, error = _check_command(dirname, node)
            if completed:
                if error is not None:
                    handler.setFailed(node, error)
                else:
                    handler.setCompleted(node)
            else:
                # still not done, so CycleCloud will call again later for this resource
                pass
"""


def on_this_machine(sample: str, folder: str) -> str:
    """The sample with its commands carried out in a folder here instead of on another machine."""
    told = '"ssh", "user@remotehost", '
    assert told in sample
    return sample.replace(told, f'"env", "-C", "{folder}", ')
