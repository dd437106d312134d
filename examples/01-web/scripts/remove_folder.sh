#!/bin/sh
# Away with the folder that create made. Nothing to do if there never was one.
set -eu

folder=$(ctx instance runtime-properties folder 2>/dev/null || true)
case $folder in
    '') ctx logger info "there is no folder" ;;
    /*/*) rm -rf -- "$folder" && ctx logger info "removed $folder" ;;
    *) ctx abort-operation "will not remove '$folder'" ;;
esac
