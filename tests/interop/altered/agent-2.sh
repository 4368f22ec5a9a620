#!/bin/sh
# An agent of version 2 that ends in the middle, after 30 lines: `agent-2.sh AGENT ARGV...`.
sh -c 'echo $$; exec "$@"' agent "$@" | {
    read -r agent
    left=30
    while [ "$left" -gt 0 ] && IFS= read -r line; do
        printf '%s\n' "$line"
        left=$((left - 1))
    done
    kill "$agent"
}
