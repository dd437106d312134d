#!/bin/sh
# The folder in which everything of this deployment lives. Its name follows from the instance: whoever is called
# again after a crash makes the same one, and no second one is left behind.
set -eu

folder=${work_folder:-${TMPDIR:-/tmp}}/guestbook-$(ctx instance id)
mkdir -p "$folder"
ctx instance runtime-properties folder "$folder"
ctx logger info "everything lives in $folder"
