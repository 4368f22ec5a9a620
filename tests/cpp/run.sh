#!/bin/sh
# Compiles acp.hpp, its tests and the example hosts in C and C++, and runs them. What the options mean is in README.md.
# Ends with `N passed, N failed`.
set -eu
cd "$(dirname "$0")/../.."

mode=plain
case ${1-} in
'') ;;
--sanitize | --valgrind) mode=${1#--} ;;
*) echo "run.sh: unknown option $1; see tests/cpp/README.md" >&2; exit 2 ;;
esac

warnings="-Wall -Wextra -Wpedantic -Wconversion -Werror"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cargo build --quiet --release --package libacp-ffi --package libacp-ffi-files
library="target/release/libacp.a -lpthread -ldl -lm"
# Beside libacp.a.
ffi-files/prelink.sh target/release/libacp_files.a "$folder/libacp_files.a"
with_files="$folder/libacp_files.a $library"
flags= under=
case $mode in
sanitize) flags="-fsanitize=address,undefined -fno-sanitize-recover=all" ;;
valgrind)
    # As in tests/c: hash tables point into the middle of what they allocate. And `new` is the tests' own, which counts.
    under="valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite"
    under="$under --errors-for-leak-kinds=definite --soname-synonyms=somalloc=nouserintercepts" ;;
esac

passed=0 failed=0
check() { # what, command...
    what=$1
    shift
    if "$@" > "$folder/log" 2>&1; then
        passed=$((passed + 1))
    else
        cat "$folder/log"
        echo "FAILED $what"
        failed=$((failed + 1))
    fi
}
play() { # a program that counts
    status=0
    "$@" > "$folder/log" 2>&1 || status=$?
    sed '$d' "$folder/log"
    set -- $(tail -n 1 "$folder/log" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p') broken
    # A checker complains with another status than a failed test.
    if [ "$1" = broken ] || [ $status -gt 1 ]; then
        cat "$folder/log"
        failed=$((failed + 1))
    else
        passed=$((passed + $1)) failed=$((failed + $2))
    fi
}

compilers="gcc:g++"
if command -v clang > /dev/null && command -v clang++ > /dev/null; then
    compilers="$compilers clang:clang++"
else
    echo "note: without clang, which is not here (apt-get install clang)"
fi

refused() { ! "$@"; }

headers() { # C compiler, C++ compiler
    for header in acp acp_files; do
        printf "#include \"$header.h\"\n#include \"$header.h\"\nextern int odd;\n" > "$folder/header.c"
        for standard in c99 c11; do
            check "$header.h as $standard with $1" \
                "$1" -std=$standard $warnings -Iinclude -fsyntax-only "$folder/header.c"
        done
        check "$header.h as C++ with $2" "$2" -x c++ -std=c++11 $warnings -Iinclude -fsyntax-only "$folder/header.c"
    done
    # Each header alone.
    for header in include/*.hpp; do
        printf '#include "%s"\n#include "%s"\nextern int odd;\n' "${header#include/}" "${header#include/}" \
            > "$folder/header.cpp"
        check "$header with $2" "$2" -std=c++17 $warnings -Wshadow -Iinclude -fsyntax-only "$folder/header.cpp"
    done
    # A host that leaves out a class of events is told so by its compiler.
    {
        printf '#include "acp.hpp"\n'
        printf 'void use(const acp::Event &event) { event.match([](const acp::Request &) {}); }\n'
    } > "$folder/forgetful.cpp"
    check "events that are forgotten with $2" refused "$2" -std=c++17 -Iinclude -fsyntax-only "$folder/forgetful.cpp"
    printf '#include "acp.hpp"\nextern int odd;\n' > "$folder/header.cpp"
    for options in "-std=c++20" "-std=c++17 -fno-exceptions -fno-rtti"; do
        check "acp.hpp with $2 $options" "$2" $options $warnings -Wshadow -Iinclude -fsyntax-only "$folder/header.cpp"
    done
}

examples() { # C compiler, C++ compiler, folder
    mkdir -p "$3"
    check "examples/c/editor with $1" \
        "$1" -std=c99 -g -O1 $flags $warnings -Iinclude examples/c/editor/*.c $with_files -o "$3/acp-editor"
    check "examples/cpp with $2" \
        "$2" -std=c++17 -fno-exceptions -fno-rtti -g -O1 $flags $warnings -Iinclude examples/cpp/chat.cpp \
        examples/cpp/main.cpp examples/cpp/updates.cpp examples/cpp/view.cpp examples/cpp/diff.cpp \
        examples/cpp/files.cpp examples/cpp/process.cpp $with_files -o "$3/acp-chat"
    check "examples/cpp/agent.cpp with $2" \
        "$2" -std=c++17 -g -O1 $flags $warnings -Iinclude examples/cpp/agent.cpp $library -o "$3/acp-demo-cpp"
}

# No function of the C interface is forgotten. Where one does what another does as well, the other is enough.
complete() {
    for function in $(sed -n 's/^[a-z].*[ *]\(acp_[a-z0-9_]*\)(.*/\1/p' include/acp.h); do
        case $function in
        acp_text | acp_bytes | acp_equal | acp_connection_request) ;;
        *) grep -q "\b$function\b" include/*.hpp || echo "include/acp.hpp: $function is missing" ;;
        esac
    done > "$folder/missing"
    cat "$folder/missing"
    [ ! -s "$folder/missing" ]
}

if [ $mode = plain ]; then
    check "all of acp.h" complete
fi
for pair in $compilers; do
    cc=${pair%:*} cxx=${pair#*:}
    if [ $mode = plain ]; then
        headers "$cc" "$cxx"
    fi
    # The checkers look at what one compiler makes; what both accept is for the plain run.
    if [ $mode = plain ] || [ "$cc" = gcc ]; then
        for options in "-fexceptions" "-fno-exceptions -fno-rtti"; do
            check "tests with $cxx $options" "$cxx" -std=c++17 $options -g -O1 $flags $warnings -Wshadow -Iinclude \
                tests/cpp/*.cpp $library -o "$folder/tests"
            play $under "$folder/tests"
        done
        examples "$cc" "$cxx" "$folder/$cc"
    fi
done
if [ "$under" ]; then
    play python3 tests/cpp/hosts.py "$folder/gcc" --under "$under"
else
    play python3 tests/cpp/hosts.py "$folder/gcc"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
