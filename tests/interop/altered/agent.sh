#!/bin/sh
# An agent that misspells a word of its plan: `agent.sh AGENT --script FILE`.
agent=$1 script=$3
exec "$agent" --script /dev/fd/3 3<<END
$(sed 's/Write a summary/Write a sumary/' "$script")
END
