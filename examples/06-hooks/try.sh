#!/bin/sh
# The commands of README.md one after another; `make examples` compares what they print with expected.txt.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
cp -R "$here/." "$work"
cd "$work"

python3 licence_server.py 3 licences.url &
server=$!
trap 'kill $server; rm -rf "$work"' EXIT
tries=0
until [ -f licences.url ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || exit 1
    sleep 0.1
done

say() {
    echo "\$ $*"
    "$@"
}

fails() {
    echo "\$ $*"
    if "$@"; then
        echo "it should have failed" >&2
        exit 1
    fi
}

look() {
    python3 -c '
import json, pathlib, urllib.request
file = pathlib.Path("racks.json")
books = json.loads(file.read_text()) if file.exists() else {}
taken = sorted(f"{name.split(chr(95))[0]} of {who} on {place}" for who, all_ in books.items() for name, (place, _) in all_.items())
print("racks:   ", ", ".join(taken) or "nothing")
print("licences:", urllib.request.urlopen(pathlib.Path("licences.url").read_text()).read().decode())
'
}

say phaseline hooks list
echo "# what hooks would say and decide, before anything is done"
say phaseline plan install blueprint.yaml -d shop
say phaseline install blueprint.yaml -d shop
look

echo "# a disk that fits on no rack: nothing is begun, and the licence that was granted before is given back"
fails phaseline plan install blueprint.yaml -d archive -i machines=1 -i size_gb=500
fails phaseline install blueprint.yaml -d archive -i machines=1 -i size_gb=500
look

echo "# no licence: the racks are not even looked at"
fails phaseline install blueprint.yaml -d farm
look

echo "# machines that break: what does not stand keeps no place and no licence"
fails phaseline install blueprint.yaml -d lab -i machines=1 -i broken=true --on-failure rollback
look

echo "# one more is warned of, and goes where there is room"
say phaseline executions start scale -d shop -p scalable_entity_name=machine
look

say phaseline uninstall -d shop
look
