#!/bin/sh
# The folder is the one of the first task: it belongs to this package and this instance.
echo "accept http" >> rules
echo "$PHASELINE_NODE: $(paste -sd, rules | sed 's/,/, /g')"
