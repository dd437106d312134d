#!/bin/bash
# Makes the file system on the partition that fdisk.sh has left in the runtime property filesys.
set -e

if [ "$(ctx node properties use_external_resource)" = "True" ]; then
    ctx logger info "the file system exists already"
    exit 0
fi

filesys=$(ctx instance runtime-properties filesys)
fs_type=$(ctx node properties fs_type)
if ! command -v "mkfs.${fs_type}" >/dev/null; then
    ctx abort-operation "no program mkfs.${fs_type} on this machine: install it, or choose another fs_type"
    exit 1
fi
ctx logger info "making ${fs_type} on ${filesys}"
"mkfs.${fs_type}" "${filesys}"
