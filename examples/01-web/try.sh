#!/bin/sh
# The commands of README.md one after another; `make examples` compares what they print with expected.txt.
set -eu
cd "$(dirname "$0")"

say() {
    echo "\$ $*"
    "$@"
}

say phaseline blueprints validate blueprint.yaml
say phaseline plan install blueprint.yaml
say phaseline install blueprint.yaml -d guestbook -i title=Welcome
say phaseline instances list -d guestbook
say phaseline deployments outputs guestbook

url=$(phaseline deployments outputs guestbook --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["outputs"]["url"])')
echo "\$ curl $url"
python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode(), end="")' "$url"

say phaseline uninstall -d guestbook
say phaseline deployments delete guestbook
