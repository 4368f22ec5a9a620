#!/bin/sh
# Installs the C library into an empty prefix, builds programs against it outside of this tree, with pkg-config and with
# CMake, and runs them. What is looked at is in README.md. Ends with `N passed, N failed`.
set -eu
cd "$(dirname "$0")/../.."

: "${CMAKE:=cmake}" "${CC:=cc}" "${CXX:=c++}"
root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/prefix

passed=0 failed=0
check() { # what, command...
    what=$1
    shift
    # Not in the condition of an `if`, where a function would go on after a command that fails.
    set +e
    (set -e; "$@") > "$folder/log" 2>&1
    status=$?
    set -e
    if [ $status -eq 0 ]; then
        passed=$((passed + 1))
    else
        cat "$folder/log"
        echo "FAILED $what"
        failed=$((failed + 1))
    fi
}

install() { cargo run --quiet --package xtask -- install "$@"; }
# Files and links below a folder, with the version's place held.
tree() {
    (cd "$1" && find . -type l -printf '%P -> %l\n' -o -type f -printf '%P\n') |
        sed "s/$version/VERSION/g; s/\.so\.$series/.so.SERIES/" | LC_ALL=C sort
}

check "install" install --prefix "$prefix"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
version=$(pkg-config --modversion acp)
series=$(echo "$version" | sed 's/^\(0\.[0-9]*\|[0-9]*\).*/\1/')

what_is_there() {
    tree "$prefix" | diff tests/install/tree -
    readelf -d "$prefix/lib/libacp.so" | grep -F "soname: [libacp.so.$series]"
    readelf -d "$prefix/lib/libacp_files.so" | grep -F "soname: [libacp_files.so.$series]"
}
other_places() {
    install --prefix /opt/acp --libdir lib64 --destdir "$folder/packed"
    grep -Fx 'prefix=/opt/acp' "$folder/packed/opt/acp/lib64/pkgconfig/acp.pc"
    grep -Fx 'libdir=${prefix}/lib64' "$folder/packed/opt/acp/lib64/pkgconfig/acp.pc"
    test -e "$folder/packed/opt/acp/lib64/libacp.so" -a -e "$folder/packed/opt/acp/include/acp.hpp"
    if install --prefix here || install; then return 1; fi
}
same_as_cargo_c() {
    cargo cinstall --release --package libacp-ffi --package libacp-ffi-files --prefix "$folder/cargo-c" --libdir lib
    tree "$folder/cargo-c" | diff tests/install/tree -
    # cargo-c names a library that no static program can have.
    sed "s|$folder/cargo-c|$prefix|; s/ -lgcc_s//" "$folder/cargo-c/lib/pkgconfig/acp.pc" |
        diff "$prefix/lib/pkgconfig/acp.pc" -
    readelf -d "$folder/cargo-c/lib/libacp.so" | grep -F "soname: [libacp.so.$series]"
}
check "what is installed" what_is_there
check "other places" other_places
# Makes the archive and builds the programs of the book with it, in `tests/release/archive.sh`.
check "the archive of a release" cargo run --quiet --package xtask -- release c
if cargo cinstall --version > /dev/null 2>&1; then
    check "the same as cargo cinstall" same_as_cargo_c
else
    echo "note: the tree is not compared with that of cargo-c, which is not here (cargo install cargo-c)"
fi

# What a user has: copies of the examples, and the prefix.
cp -r examples/c "$folder/c"
cp -r examples/cpp "$folder/cpp"
cp -r tests/install/consumer "$folder/consumer"
cd "$folder"
export LD_LIBRARY_PATH="$prefix/lib"

with_pkg_config() {
    mkdir -p pc
    $CC -std=c99 c/editor/*.c $(pkg-config --cflags --libs acp acp-files) -o pc/acp-editor
    for host in client agent; do
        (cd c && $CC -std=c99 $host.c host.c player.c workspace.c script.c compare.c \
            $(pkg-config --cflags --libs acp acp-files) -o "$folder/pc/$host")
    done
    $CXX -std=c++17 cpp/agent.cpp $(pkg-config --cflags --libs acp) -o pc/acp-demo-cpp
    (cd cpp && $CXX -std=c++17 main.cpp chat.cpp conversation.cpp screen.cpp diff.cpp process.cpp \
        $(pkg-config --cflags --libs acp acp-files) -o "$folder/pc/acp-chat")
    # The shared library, by the name that lasts.
    readelf -d pc/acp-chat | grep -F "[libacp.so.$series]"
}
statically() {
    libraries="$(pkg-config --variable=libdir acp)/libacp.a $(pkg-config --static --libs-only-l acp | sed 's/-lacp//')"
    $CC -std=c99 consumer/consumer.c $(pkg-config --cflags acp) $libraries -o pc/c-static
    $CXX -std=c++17 consumer/consumer.cpp $(pkg-config --cflags acp) $libraries -o pc/cpp-static
    if readelf -d pc/c-static | grep -F libacp; then return 1; fi
    test "$(LD_LIBRARY_PATH='' pc/c-static) $(LD_LIBRARY_PATH='' pc/cpp-static)" = "$version $version"
    # Programs that need no shared library at all.
    $CC -static -std=c99 consumer/consumer.c $(pkg-config --static --cflags --libs acp) -o pc/c-whole
    $CXX -static -std=c++17 consumer/consumer.cpp $(pkg-config --static --cflags --libs acp) -o pc/cpp-whole
    for program in c-whole cpp-whole; do
        if readelf -d pc/$program | grep -F NEEDED; then return 1; fi
        test "$(pc/$program)" = "$version"
    done
}
play() { # a program that counts
    status=0
    "$@" > log 2>&1 || status=$?
    sed '$d' log
    set -- $(tail -n 1 log | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p') broken
    if [ "$1" = broken ]; then
        cat log
        failed=$((failed + 1))
    else
        passed=$((passed + $1)) failed=$((failed + $2))
    fi
}
script() {
    mkdir work
    pc/client --script "$root/tests/interop/script.json" --work "$folder/work" -- \
        pc/agent --script "$root/tests/interop/script.json" | grep '^{"ok":true'
}
check "the examples with pkg-config" with_pkg_config
check "static programs with pkg-config" statically
check "the C hosts play the script" script
play python3 "$root/tests/cpp/hosts.py" pc

with_cmake() { # source, build
    "$CMAKE" -S "$1" -B "$2" -DCMAKE_PREFIX_PATH="$3" -DCMAKE_BUILD_TYPE=Release && "$CMAKE" --build "$2"
}
consumers() { # prefix
    rm -rf built
    with_cmake consumer built "$1"
    for kind in acp shared static; do
        test "$(built/c-$kind) $(built/cpp-$kind)" = "$version $version"
    done
    if readelf -d built/c-static | grep -F libacp; then return 1; fi
}
# What CMake builds knows where its libraries are.
unset LD_LIBRARY_PATH PKG_CONFIG_PATH
check "the editor with CMake" with_cmake c/editor built-c "$prefix"
check "the chat with CMake" with_cmake cpp built-cpp "$prefix"
cp built-c/acp-editor built-cpp/ 2> log || cat log
play python3 "$root/tests/cpp/hosts.py" built-cpp
check "each target of the CMake package" consumers "$prefix"
mv prefix moved
check "the CMake package in a prefix that was moved" consumers "$folder/moved"
# What cargo-c lays out on Windows, with either toolchain: empty files will do, as nothing is linked there.
on_windows() { # static library, import library
    tree=$folder/windows/$1
    mkdir -p "$tree/bin" "$tree/lib/pkgconfig"
    cp -r moved/include moved/share "$tree"
    sed 's/^Libs.private: .*/Libs.private: -lkernel32 -lws2_32/' moved/lib/pkgconfig/acp.pc > "$tree/lib/pkgconfig/acp.pc"
    touch "$tree/bin/acp.dll" "$tree/lib/$1" "$tree/lib/$2"
    "$CMAKE" -S "$root/tests/install/windows" -B "$tree/build" -DCMAKE_SYSTEM_NAME=Windows \
        -DCMAKE_PREFIX_PATH="$tree" -DSTATIC="$tree/lib/$1" -DIMPORT="$tree/lib/$2" -DSHARED="$tree/bin/acp.dll"
}
check "the CMake package on Windows, MSVC" on_windows acp.lib acp.dll.lib
check "the CMake package on Windows, GNU" on_windows libacp.a acp.dll.a
# Where there is only one kind of library.
rm moved/lib/libacp*.so*
sed -i 's/foreach(kind acp shared static)/foreach(kind acp static)/' consumer/CMakeLists.txt
only_static() {
    rm -rf built
    with_cmake consumer built "$folder/moved"
    if readelf -d built/c-acp | grep -F libacp; then return 1; fi
}
check "the CMake package without the shared library" only_static
rm moved/lib/libacp*.a
nothing() {
    rm -rf built
    if with_cmake consumer built "$folder/moved" 2> errors; then return 1; fi
    grep -F "no library in" errors
}
check "the CMake package without a library" nothing

cd "$root"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
