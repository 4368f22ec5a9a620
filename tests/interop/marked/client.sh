#!/bin/sh
# A client whose bytes begin with a byte order mark: `client.sh CLIENT ARGV... -- AGENT ARGV...`.
left=$# seen=
while [ "$left" -gt 0 ]; do
    if [ -z "$seen" ] && [ "$1" = -- ]; then
        seen=yes
        set -- "$@" -- sh -c '(printf "\357\273\277"; exec cat) | "$@"' marked
    else
        set -- "$@" "$1"
    fi
    shift
    left=$((left - 1))
done
exec "$@"
