"""The built-in file system types work: their scripts are bundled and call the machine's own programs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.terminal import Terminal

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates:
  host:
    type: cloudify.nodes.Compute
    properties: {{agent_config: {{install_method: none}}}}
  volume:
    type: cloudify.nodes.Volume
    interfaces:
      cloudify.interfaces.lifecycle:
        create: |
          #!/bin/sh
          ctx instance runtime-properties device_name /dev/pretended
  disk:
    type: cloudify.nodes.FileSystem
    properties: {{fs_type: ext9, fs_mount_path: {mount}}}
    relationships:
      - {{type: cloudify.relationships.file_system_depends_on_volume, target: volume}}
      - {{type: cloudify.relationships.file_system_contained_in_compute, target: host}}
"""


def pretend(folder: Path, noted: Path, *programs: str) -> None:
    """Programs that only note how they were called: no test may touch a real disk."""
    folder.mkdir()
    for program in programs:
        path = folder / program
        path.write_text(f'#!/bin/sh\necho "{program} $*" >> {noted}\n')
        path.chmod(0o755)


def test_b06a_bundled_scripts_partition_format_mount_and_unmount(terminal: Terminal, tmp_path: Path) -> None:
    noted, programs = tmp_path / "noted", tmp_path / "programs"
    pretend(programs, noted, "sfdisk", "partprobe", "mkfs.ext9", "mount", "umount")
    mountpoint = programs / "mountpoint"
    mountpoint.write_text(f'#!/bin/sh\ntest "$(grep -c "^mount " {noted})" -gt "$(grep -c "^umount " {noted})"\n')
    mountpoint.chmod(0o755)
    terminal.environment["PATH"] = f"{programs}:{os.environ['PATH']}"
    (terminal.folder / "blueprint.yaml").write_text(BLUEPRINT.format(mount=tmp_path / "mounted"))

    assert terminal.run("install", "blueprint.yaml", "-d", "disks", "--task-retries", "0").exit_code == 0
    assert noted.read_text().splitlines() == [
        "sfdisk --quiet /dev/pretended",
        "partprobe /dev/pretended",
        "mkfs.ext9 /dev/pretended1",
        f"mount /dev/pretended1 {tmp_path / 'mounted'}",
    ]

    assert terminal.run("uninstall", "-d", "disks", "--task-retries", "0").exit_code == 0
    assert noted.read_text().splitlines()[4:] == [f"umount {tmp_path / 'mounted'}"]
    assert not (tmp_path / "mounted").exists()
