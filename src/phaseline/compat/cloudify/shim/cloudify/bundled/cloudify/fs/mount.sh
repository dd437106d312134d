#!/bin/bash
# Mounts the file system (source) on its host (target).
set -e

filesys=$(ctx source instance runtime-properties filesys)
mount_path=$(ctx source node properties fs_mount_path)

mkdir -p "${mount_path}"
if mountpoint -q "${mount_path}"; then
    ctx logger info "${mount_path} is mounted already"
    exit 0
fi
ctx logger info "mounting ${filesys} at ${mount_path}"
mount "${filesys}" "${mount_path}"
