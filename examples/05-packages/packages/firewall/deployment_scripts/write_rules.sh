#!/bin/sh
# The setting of the package, as JSON, and whom this is for.
policy=$(printf '%s' "$PHASELINE_SETTINGS" | sed 's/.*"policy": *"\([a-z]*\)".*/\1/')
echo "default $policy" > rules
echo "$PHASELINE_NODE: rules written, default is $policy"
