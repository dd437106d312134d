#!/bin/sh
# Run the program in a session of its own, so that it outlives this script and whoever called it.
# The program writes its process id once it listens. A second call finds it running and is content.
set -eu

folder=$(ctx instance runtime-properties folder)
port=$(ctx instance runtime-properties port)

# By its command, not by its number alone: numbers are given again, and one that ended may still be listed.
is_running() {
    [ -s "$folder/pid" ] && grep -aqF "$folder" "/proc/$(cat "$folder/pid")/cmdline" 2>/dev/null
}

if ! is_running; then
    rm -f "$folder/pid"
    setsid nohup "${PYTHON:-python3}" "$folder/program.py" "$folder" >>"$folder/log" 2>&1 </dev/null &
    tries=0
    until is_running; do
        tries=$((tries + 1))
        if [ $tries -gt 600 ]; then
            tail -n 5 "$folder/log" >&2
            echo "the process does not listen on port $port after a minute" >&2
            exit 1
        fi
        sleep 0.1
    done
fi
ctx instance runtime-properties pid "@$(cat "$folder/pid")"
ctx logger info "$(ctx node name) runs as process $(cat "$folder/pid") on port $port"
