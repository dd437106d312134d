"""Example.RemoveFile: all host files with one command."""

import os
import subprocess


def handle(handler):
    args = ["rm", "-f"]
    args.extend([os.environ["HOSTS"] + "/" + node.getAsString("Name") for node in handler.getResources()])
    subprocess.check_call(args)
    handler.setCompleted(handler.getResources())
