#!/bin/sh
# Does what somebody does who has an archive of the C libraries and the book: `archive.sh ARCHIVE` unpacks it into an empty
# folder and builds the book's programs with it, by pkg-config and by CMake, with the shared and with the static libraries.
set -eu
: "${CMAKE:=cmake}"
archive=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
snippets=$here/../../docs/snippets
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
tar -xzf "$archive"
prefix=$folder/$(ls)
version=$(basename "$prefix" | cut -d- -f2)
mkdir c cpp static
cp "$snippets"/c/* c
cp "$snippets"/cpp/* cpp
printf 'a file\n' > file
printf 'a file\n%s\n' "$version" > file.out

same() { # what, expected, command...
    what=$1 expected=$2
    shift 2
    status=0
    "$@" > printed || status=$?
    [ $status -eq 0 ] || { cat printed; echo "$what: ended with $status" >&2; exit 1; }
    tail -n 2 printed | diff "$expected" - || { echo "$what: printed something else" >&2; exit 1; }
}
alone() { # program
    if readelf -d "$1" | grep -F "NEEDED" | grep -F "libacp"; then
        echo "$1: needs a shared library of the archive" >&2
        exit 1
    fi
}

# The page of C, the page of C++.
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
for language in c cpp; do
    cd "$folder/$language"
    same "$language, shared" run.out env LD_LIBRARY_PATH="$prefix/lib" sh -e run.sh
    sed 's/^c[c+]* /&-static /; s/--cflags/--static --cflags/' run.sh > static.sh
    same "$language, static" run.out env LD_LIBRARY_PATH= sh -e static.sh
    alone client
done
cd "$folder/static"
c++ -static -std=c++17 "$here/archive/files.cpp" $(pkg-config --static --cflags --libs acp acp-files) -o files
same "both libraries, static" "$folder/file.out" ./files "$folder/file"

# The same by CMake, which knows where its libraries are.
unset PKG_CONFIG_PATH
export CMAKE_PREFIX_PATH="$prefix"
cd "$folder/cpp"
sed "s|^cmake |$CMAKE |" cmake.sh > with_cmake.sh
same "CMake, shared" cmake.out sh -e with_cmake.sh
"$CMAKE" -S "$here/archive" -B "$folder/static/build" -DSNIPPETS="$snippets" > log && "$CMAKE" --build "$folder/static/build" >> log ||
    { cat log; exit 1; }
cd "$folder/static"
same "CMake, static" "$folder/c/run.out" sh -ec 'printf Hello | build/client build/agent'
same "CMake, both libraries, static" "$folder/file.out" build/files "$folder/file"
alone build/client
alone build/files

for file in README.md LICENSE-APACHE LICENSE-MIT CHANGELOG.md; do
    test -s "$prefix/$file" || { echo "no $file in the archive" >&2; exit 1; }
done
if grep -n '{[a-z]*}' "$prefix/README.md" || grep -rlF -e "$(cd "$here/../.." && pwd)" "$prefix"; then
    echo "the files above are not filled in, or name the folder that the archive was made in" >&2
    exit 1
fi
