#!/bin/bash
# Makes one partition over the whole volume. Source: the file system; target: the volume, whose device_name is the input.
# Leaves the partition's device in the runtime property filesys of the file system.
set -e

if [ -z "${device_name}" ] || [ "${device_name}" = "None" ]; then
    ctx abort-operation "the volume has no runtime property device_name, so there is nothing to partition"
    exit 1
fi

if [ "$(ctx source node properties use_external_resource)" = "True" ]; then
    ctx logger info "using what is on ${device_name}"
    ctx source instance runtime-properties filesys "${device_name}"
    exit 0
fi

partition_type=$(ctx source node properties partition_type)
# partition types are given in decimal and wanted in hexadecimal
type_id=$(printf '%x' "${partition_type}")
ctx logger info "partitioning ${device_name} (type ${type_id})"
printf ',,%s\n' "${type_id}" | sfdisk --quiet "${device_name}"
if command -v partprobe >/dev/null; then
    partprobe "${device_name}" || true
fi

case "${device_name}" in
    *[0-9]) partition="${device_name}p1" ;;
    *) partition="${device_name}1" ;;
esac
ctx source instance runtime-properties filesys "${partition}"
