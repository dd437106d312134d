#!/bin/sh
# A folder for one process, with its program in it. machine_folder is an input of the operation.
set -eu

folder=$machine_folder/$(ctx instance id)
mkdir -p "$folder"
ctx instance runtime-properties folder "$folder"
program=$(ctx node properties program)
ctx download-resource "$program" "$folder/program.py" >/dev/null
ctx logger info "$program copied to $folder"
