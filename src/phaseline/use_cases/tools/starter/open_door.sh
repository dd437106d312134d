#!/bin/sh
# Scripts talk to Phaseline with the command ctx.
ctx logger info "the door opens"
ctx instance runtime-properties opened_at "$(date +%H:%M:%S)"
