#!/bin/sh
# An agent whose bytes begin with a byte order mark: `agent.sh AGENT ARGV...`.
printf '\357\273\277'
exec "$@"
