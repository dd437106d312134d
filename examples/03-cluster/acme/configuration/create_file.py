"""Example.CreateFile: a host file for each node, all of them with one command."""

import os
import subprocess


def handle(handler):
    args = ["touch"]
    args.extend([os.environ["HOSTS"] + "/" + node.getAsString("Name") for node in handler.getResources()])
    subprocess.check_call(args)
    handler.setCompleted(handler.getResources())
