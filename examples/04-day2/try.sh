#!/bin/sh
# The commands of README.md one after another; `make examples` compares what they print with expected.txt.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$here/../01-web/." "$here/." "$work"
cd "$work"

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

visit() {
    phaseline instances list -d guestbook --node page --json | python3 -c '
import json, subprocess, sys, urllib.request
for one in json.load(sys.stdin)["instances"]:
    shown = json.loads(subprocess.check_output(["phaseline", "instances", "show", one["id"], "--json"]))
    text = urllib.request.urlopen(shown["runtime_properties"]["url"]).read().decode()
    print("a page says:", text.split("<p>")[1].split("</p>")[0])
'
}

say phaseline install guestbook.yaml -d guestbook
visit

echo "# the back end dies"
kill -9 "$(cat "${TMPDIR:-/tmp}"/guestbook-*/back_end_*/pid)"
fails phaseline executions start check_status -d guestbook
say phaseline instances list -d guestbook
say phaseline plan heal -d guestbook
say phaseline executions start heal -d guestbook
visit

echo "# more guests are expected"
say phaseline plan scale -d guestbook -p scalable_entity_name=page -p delta=2
say phaseline executions start scale -d guestbook -p scalable_entity_name=page -p delta=2
visit
fails phaseline plan scale -d guestbook -p scalable_entity_name=page -p delta=9

echo "# another message, seen before it is done"
say phaseline plan update -d guestbook guestbook.yaml -i message=Closed_on_Mondays. --save
say phaseline plans apply plan-1
visit

echo "# it was a mistake: back to what was said before"
say phaseline deployments update guestbook guestbook.yaml -i "message=Everything on this page runs on your machine."
say phaseline executions start scale -d guestbook -p scalable_entity_name=page -p delta=-2
visit

say phaseline executions timeline -d guestbook
say phaseline uninstall -d guestbook
