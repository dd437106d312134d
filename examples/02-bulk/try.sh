#!/bin/sh
# The commands of README.md one after another; `make examples` compares what they print with expected.txt.
set -eu
cd "$(dirname "$0")"

say() {
    echo "\$ $*"
    "$@"
}

folder=$(mktemp -d)
python3 -m phaseline.testing.fake_cloud --state "$folder/cloud.jsonl" >"$folder/url" &
cloud_process=$!
trap 'kill $cloud_process; rm -rf "$folder"' EXIT
until [ -s "$folder/url" ]; do sleep 0.05; done
cloud=$(cat "$folder/url")

report() {
    echo "\$ curl $cloud/report"
    python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())' "$cloud/report"
}

say phaseline install blueprint.yaml -d farm -i cloud="$cloud" -i count=500
report
say phaseline deployments outputs farm
say phaseline uninstall -d farm
report
