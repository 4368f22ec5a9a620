#!/bin/sh
# A client that misspells a word of its first prompt: `client.sh CLIENT --script FILE ARGV...`.
client=$1 script=$3
shift 3
exec "$client" --script /dev/fd/3 "$@" 3<<END
$(sed 's/Summarise the notes/Sumarise the notes/' "$script")
END
