#!/bin/sh
# The commands of README.md one after another; `make examples` compares what they print with expected.txt.
set -eu
cd "$(dirname "$0")"

say() {
    echo "\$ $*"
    "$@"
}

refused() { # what it says is told to people, so it is on standard error
    echo "\$ $*"
    "$@" 2>&1 && echo "it was not refused" || echo "(exit code $?)"
}

say phaseline plugins check packages/firewall
say phaseline plugins install packages/backup
say phaseline plugins install packages/firewall
refused phaseline plugins install packages/broken

echo "\$ phaseline deployments create ../01-web/blueprint.yaml -d guestbook"
phaseline deployments create ../01-web/blueprint.yaml -d guestbook >/dev/null

say phaseline deployments plugins enable guestbook firewall --set policy=reject
say phaseline deployments plugins enable guestbook backup
say phaseline plugins order -d guestbook
say phaseline executions start install -d guestbook
say phaseline executions logs -d guestbook --phase 'firewall#1' --node page
for task in 'backup#2' 'firewall#2' 'backup#1'; do
    say phaseline executions logs -d guestbook --phase "$task"
done
refused phaseline plugins remove firewall==1.2.0

say phaseline uninstall -d guestbook
say phaseline deployments delete guestbook
say phaseline plugins remove firewall==1.2.0
