#!/bin/sh
# The source of the relationship learns where its target is.
set -eu

url=$(ctx target instance runtime-properties url)
ctx source instance runtime-properties needs "$url"
ctx logger info "$(ctx source node name) will ask $(ctx target node name) at $url"
