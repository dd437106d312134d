#!/bin/sh
ctx logger info "the door closes"
