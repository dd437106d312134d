#!/bin/bash
# Unmounts the file system (source) from its host (target) and removes the empty folder.
set -e

mount_path=$(ctx source node properties fs_mount_path)

if mountpoint -q "${mount_path}"; then
    ctx logger info "unmounting ${mount_path}"
    umount "${mount_path}"
fi
rmdir "${mount_path}" 2>/dev/null || true
ctx source instance runtime-properties filesys ""
