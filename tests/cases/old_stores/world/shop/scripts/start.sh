#!/bin/sh
echo "start $(ctx instance id)" >> "$OLD_WORLD/calls"
