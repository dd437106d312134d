"""Names of the inputs that functions which run tasks (``phaseline.tasks.task_types``) receive.

The inputs are: ``task`` {package, version, file, index from 0, stage, id, title}; ``parameters`` of the task with
defaults filled in; ``package_folder`` (absolute); ``scripts`` (folder of the package's scripts, relative to it);
``work`` (absolute folder with the work folders of instances on this machine); ``settings`` of the package, which are
stored encrypted and decrypted for the call.
"""

SETTINGS = "settings"

REBOOT_OPERATION = "cloudify.interfaces.power.reboot"
"""The operation of a node that reboots its instances; the functions ``note_boot`` and ``await_boot`` run before and after it."""
