#!/bin/sh
# prelink.sh FROM.a TO.a: makes the static library one that can be linked beside libacp.a. As the compiler leaves it, both
# have Rust's standard library in them, and a linker refuses the second. Here all of it becomes one object in which nothing
# but the functions of acp_files.h has a name.
set -eu
header=$(dirname "$0")/../include/acp_files.h
names=$(sed -n 's/^[a-z].*[ *]\(acp_files_[a-z_]*\)(.*/\1/p' "$header")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${LD:-ld}" -r --force-group-allocation $(printf -- '-u %s ' $names) "$1" -o "$folder/acp_files.o"
"${OBJCOPY:-objcopy}" $(printf -- '--keep-global-symbol=%s ' $names) "$folder/acp_files.o"
rm -f "$2"
"${AR:-ar}" crsD "$2" "$folder/acp_files.o"
