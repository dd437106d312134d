#!/bin/sh
echo "rules $PHASELINE_INSTANCE" >> "$OLD_WORLD/calls"
