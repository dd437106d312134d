"""What tasks of packages and those who run them have agreed on.

The inputs of a runner (``phaseline.tasks.task_types``): ``task`` {package, version, file, index from 0, stage, id, title}, ``parameters``
as the package says them, defaults filled in, ``package_folder`` (absolute), ``scripts`` (the folder of its scripts, relative to
it), ``work`` (absolute: where work folders of instances of this machine lie) and ``settings`` of the package, which are stored
as they are in a use of it and opened for the call.
"""

SETTINGS = "settings"

REBOOT_OPERATION = "cloudify.interfaces.power.reboot"
"""The operation of a node by which its instances are booted anew, between the runners ``note_boot`` and ``await_boot``."""
