#!/bin/sh
# Builds the C tests against the header and the library in a temporary prefix, as a host would, and runs them.
# What the options mean is in README.md. Ends with `N passed, N failed`.
set -eu
cd "$(dirname "$0")/../.."

interface=yes vectors=yes few= sanitize= inside= valgrind= shared= folder=tests/vectors
while [ $# -gt 0 ]; do
    case $1 in
    --interface) vectors= ;;
    --vectors) interface= ;;
    --sanitize) sanitize="-fsanitize=address,undefined -fno-sanitize-recover=all" ;;
    --valgrind)
        # Hash tables point into the middle of what they allocate, so those of the library's that live as long as the
        # process look "possibly lost"; what is lost for certain is what counts.
        few=--few
        leaks="--leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite"
        valgrind="valgrind --quiet --fair-sched=try --error-exitcode=99 $leaks" ;;
    --shared) shared=yes ;;
    --folder) folder=$2; shift ;;
    *) echo "run.sh: unknown option $1; see tests/c/README.md" >&2; exit 2 ;;
    esac
    shift
done

: "${CC:=cc}" "${CXX:=c++}"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Werror"
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
mkdir "$prefix/include" "$prefix/lib"
cp include/acp.h include/acp_constants.h include/acp_files.h "$prefix/include"
if [ "$shared" ]; then
    # Programs look for it by the name that an installation gives it.
    cargo run --quiet --package xtask -- install --prefix "$prefix" > /dev/null
    libraries="-L$prefix/lib -lacp -Wl,-rpath,$prefix/lib"
    files="-L$prefix/lib -lacp_files -Wl,-rpath,$prefix/lib"
else
    if [ "$sanitize" ]; then
        # The library too: with the checks that take the place of the other sanitizer in Rust (of overflow, and of what the
        # standard library's unsafe functions are called with), and where a nightly compiler is there, which alone has it
        # for Rust, with the address sanitizer.
        host=$(rustc -vV | sed -n 's/^host: //p')
        if rustup run nightly rustc --version > /dev/null 2>&1; then
            inside=-Zsanitizer=address
            build="rustup run nightly cargo"
        else
            echo "note: no address sanitizer inside of the library, as that takes a nightly toolchain"
            build=cargo
        fi
        env -u CARGO -u RUSTC RUSTFLAGS="$inside" \
            $build build --quiet --package libacp-ffi --package libacp-ffi-files --target "$host" \
            --target-dir target/sanitized --config profile.dev.package.libacp.opt-level=1
        cp "target/sanitized/$host/debug/libacp.a" "target/sanitized/$host/debug/libacp_files.a" "$prefix/lib"
    else
        cargo build --quiet --release --package libacp-ffi --package libacp-ffi-files
        cp target/release/libacp.a target/release/libacp_files.a "$prefix/lib"
    fi
    files="$prefix/lib/libacp_files.a -lpthread -ldl -lm"
    libraries="$prefix/lib/libacp.a -lpthread -ldl -lm"
fi

# The header alone, in both languages.
printf '#include "acp.h"\n#include "acp.h"\nint main(void) { return acp_abi_version() != ACP_ABI_VERSION; }\n' \
    > "$prefix/header.c"
$CC -std=c99 $sanitize $warnings -I"$prefix/include" "$prefix/header.c" $libraries -o "$prefix/header"
"$prefix/header"
$CXX -x c++ -std=c++17 $warnings -I"$prefix/include" -fsyntax-only "$prefix/header.c"

compile() { # program, sources
    program=$1
    shift
    $CC -std=c99 -g -O1 $sanitize $warnings -I"$prefix/include" "$@" $libraries -o "$prefix/$program"
}

passed=0 failed=0
count() { # log
    set -- $(tail -n 1 "$1" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p') broken
    if [ "$1" = broken ]; then
        echo "a program did not end as it should"
        failed=$((failed + 1))
    else
        passed=$((passed + $1)) failed=$((failed + $2))
    fi
}

play() { # program, arguments
    program=$1 status=0
    shift
    $valgrind "$prefix/$program" "$@" > "$prefix/log" || status=$?
    sed '$d' "$prefix/log"
    count "$prefix/log"
    # A checker complains with another status than a failed test.
    if [ $status -gt 1 ]; then
        echo "$program ended with $status"
        failed=$((failed + 1))
    fi
}

if [ "$interface" ]; then
    python3 tests/c/wrong.py include/acp.h > "$prefix/include/wrong_calls.h"
    (cd tests/c && compile interface main.c config.c calls.c events.c observer.c json.c messages.c permission.c http.c wrong.c threads.c support.c -pthread)
    play interface
    mkdir "$prefix/work"
    $CC -std=c99 -g -O1 $sanitize $warnings -I"$prefix/include" tests/c/files.c $files -pthread -o "$prefix/files"
    # The others are slow, and look for other things.
    [ "$sanitize$valgrind" ] || export LIBACP_RACE_SECONDS="${LIBACP_RACE_SECONDS:-15}"
    play files "$prefix/work"
fi
# What reads memory that is gone would be stopped by the checkers, and is not theirs to see here.
if [ "$interface" ] && [ ! "$sanitize$valgrind" ]; then
    (cd tests/c && compile freed freed.c)
    for way in config connection event list writer http_server http_client twice; do
        if [ "$("$prefix/freed" $way)" = "bad handle" ]; then
            passed=$((passed + 1))
        else
            echo "FAILED freed: $way was not seen"
            failed=$((failed + 1))
        fi
    done
fi
if [ "$interface" ] && [ "$inside" ]; then
    (cd tests/c && compile freed freed.c)
    for way in $("$prefix/freed"); do
        # Stopped by the sanitizer, and for what it saw inside of the library.
        if "$prefix/freed" $way 2> "$prefix/log" || ! grep -q "ERROR: AddressSanitizer" "$prefix/log"; then
            cat "$prefix/log"
            echo "FAILED freed: $way was not seen"
            failed=$((failed + 1))
        else
            passed=$((passed + 1))
        fi
    done
fi
if [ "$vectors" ]; then
    (cd tests/c && compile vectors vectors.c called.c viewed.c given.c getters.c replay.c expected.c frames.c support.c)
    play vectors "$folder/include.json" "$folder/format.json" "$folder/wrong.ndjson" \
        $(find "$folder" -name '*.jsonl' | LC_ALL=C sort)
fi
if [ "$vectors" ] && [ "$folder" = tests/vectors ]; then
    (cd tests/c && compile remote remote.c remote_values.c remote_server.c remote_client.c support.c)
    play remote $few tests/http/include.json tests/http/wrong.ndjson $(find tests/http -name '*.jsonl' | LC_ALL=C sort)
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
