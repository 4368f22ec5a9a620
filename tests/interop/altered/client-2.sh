#!/bin/sh
# A client of version 2 that misspells a word of its second prompt: `client-2.sh CLIENT client --script FILE ARGV...`.
client=$1 script=$4
shift 4
exec "$client" client --script /dev/fd/3 "$@" 3<<END
$(sed '/"request": "session\/prompt"/s/Now delete them/Now delet them/' "$script")
END
