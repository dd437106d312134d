#!/bin/sh
echo "hangs $PHASELINE_INSTANCE" >> "$OLD_WORLD/calls"
cat "$OLD_WORLD/gate"
echo "watch $PHASELINE_INSTANCE" >> "$OLD_WORLD/calls"
