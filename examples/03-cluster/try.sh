#!/bin/sh
# The commands of README.md one after another; `make examples` compares what they print with expected.txt.
set -eu
cd "$(dirname "$0")"

tell() {
    printf '\n# %s\n' "$*"
}

# Print a command as one would type it, then run it.
say() {
    printf '$'
    for word in "$@"; do
        case $word in
            *[\ \"\&]*) printf " '%s'" "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$@"
}

ask() {
    echo "\$ curl -X $1 $ACME_URL$2"
    python3 -c 'import sys, urllib.request
request = urllib.request.Request(sys.argv[2], method=sys.argv[1])
print(urllib.request.urlopen(request).read().decode(), end="")' "$1" "$ACME_URL$2"
}

folder=$(mktemp -d)
python3 provider.py >"$folder/url" &
provider=$!
trap 'kill $provider; rm -rf "$folder"' EXIT
until [ -s "$folder/url" ]; do sleep 0.05; done
ACME_URL=$(cat "$folder/url")
HOSTS=$folder/hosts
export ACME_URL HOSTS
mkdir "$HOSTS"
cp -r acme phaseline.toml nodes.py "$folder"
cd "$folder"

tell "The phases that will move the nodes."
say phaseline plugins check acme
say phaseline phases list

tell "Two hundred nodes in a file of records, put into a cluster. Nothing moves yet."
python3 nodes.py >nodes.rec
echo '$ head -8 nodes.rec'
head -8 nodes.rec
say phaseline resources apply nodes.rec -d night

tell "An engine carries it out, until nothing is left but what waits for a person."
say phaseline engine run --until-idle

tell "180 have arrived. What failed alike is told together, however many there are."
say phaseline resources list --filter PhaseFailed
say phaseline resources why gpu-040

# The keys stand in the listing above; a person would copy them.
group() {
    phaseline resources list --filter "PhaseFailed && PhaseMap.'$1'.Status == \"Failed\"" --json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["failures"][0]["key"])'
}

tell "Each group is repaired in its own way and retried with one command: another zone, and a package server that is back."
say phaseline resources retry --group "$(group Acme.CreateInstance)" --set Zone=south
ask PUT /repair
say phaseline resources retry --group "$(group Example.Install)"
say phaseline engine run --until-idle
say phaseline resources list --limit 3
echo '$ ls $HOSTS | wc -l'
ls "$HOSTS" | wc -l

tell "The night is over."
say phaseline resources target Terminated --all -d night
say phaseline engine run --until-idle
echo '$ ls $HOSTS | wc -l'
ls "$HOSTS" | wc -l
say phaseline resources delete --all -d night
say phaseline deployments delete night

tell "What acme was asked, and what it would have been asked node by node."
ask GET /report
