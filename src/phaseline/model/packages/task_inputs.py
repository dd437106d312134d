"""Names of the inputs that task runners receive.

The inputs of a runner (``phaseline.tasks.task_types``): ``task`` {package, version, file, index from 0, stage, id, title}, ``parameters``
of the package with defaults filled in, ``package_folder`` (absolute), ``scripts`` (the folder of its scripts, relative to
it), ``work`` (absolute: the folder with the work folders of instances on this machine) and ``settings`` of the package,
which are stored sealed and opened for the call.
"""

SETTINGS = "settings"

REBOOT_OPERATION = "cloudify.interfaces.power.reboot"
"""The operation of a node that reboots its instances, between the runners ``note_boot`` and ``await_boot``."""
