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
flags= under= curl=
if pkg-config --exists libcurl 2> /dev/null; then
    curl="-DACP_CHAT_REMOTE -lcurl"
    cargo build --quiet --package libacp-cli --bins --examples
fi
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

refused_for() { # what is said of it, in how many lines at most, command...
    said=$1 most=$2
    shift 2
    if LC_ALL=C "$@" 2> "$folder/errors"; then return 1; fi
    cat "$folder/errors"
    grep -q "$said" "$folder/errors" && [ "$(wc -l < "$folder/errors")" -le "$most" ]
}

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
    if pkg-config --exists libcurl 2> /dev/null; then
        printf '#include "acp/curl.hpp"\n#include "acp/curl.hpp"\nextern int odd;\n' > "$folder/header.cpp"
        for options in "-std=c++20" "-std=c++17 -fno-exceptions -fno-rtti"; do
            check "acp/curl.hpp with $2 $options" "$2" $options $warnings -Wshadow -Iinclude -fsyntax-only "$folder/header.cpp"
        done
    else
        echo "note: without acp/curl.hpp, as libcurl is not here (apt-get install libcurl4-openssl-dev)"
    fi
    # A host that leaves out a class of events is told so by its compiler.
    {
        printf '#include "acp.hpp"\n'
        printf 'void use(const acp::Event &event) { event.match([](const acp::Request &) {}, [](const acp::Notification &) {},'
        printf '[](const acp::Response &) {}, [](const acp::Cancel &) {}, [](const acp::Answered &) {},'
        printf '[](const acp::Violation &) {}, [](const acp::Closed &) {}, [](const acp::Advice &) {},'
        printf '[](const acp::Unknown &) {}); }\n'
    } > "$folder/forgetful.cpp"
    check "events that are forgotten with $2" refused_for "no function takes an acp::LateResponse" 30 \
        "$2" -std=c++17 -Iinclude -fsyntax-only "$folder/forgetful.cpp"
    printf '#include "acp.hpp"\nextern int odd;\n' > "$folder/header.cpp"
    check "C++14 with $2" refused_for "need C++17" 100000 "$2" -std=c++14 -Iinclude -fsyntax-only "$folder/header.cpp"
    # Where ignoring a status is a mistake, the compiler says so.
    printf '#include "acp.h"\nvoid use(acp_connection *c) { acp_connection_respond(c, 1, acp_text("{}")); }\n' \
        > "$folder/careless.c"
    check "a status that is ignored with $1" refused_for "warn_unused_result\|unused-result" 100 \
        "$1" -std=c99 -Wall -Werror -Iinclude -c "$folder/careless.c" -o "$folder/careless.o"
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
        examples/cpp/main.cpp examples/cpp/conversation.cpp examples/cpp/screen.cpp examples/cpp/diff.cpp \
        examples/cpp/process.cpp $with_files $curl -o "$3/acp-chat"
    check "examples/cpp/agent.cpp with $2" \
        "$2" -std=c++17 -g -O1 $flags $warnings -Iinclude examples/cpp/agent.cpp $library -o "$3/acp-demo-cpp"
}

# What stays of a conversation over libcurl.
lasting() { # C++ compiler, folder
    [ "$curl" ] || return 0
    check "tests/cpp/curl with $1" "$1" -std=c++17 -fno-exceptions -fno-rtti -g -O1 $flags $warnings -Wshadow -Iinclude \
        tests/cpp/curl/lasting.cpp $library -lcurl -o "$2/lasting"
    play $under "$2/lasting" target/debug/acp target/debug/examples/storyteller
}

# What readers of the README and the book copy.
copied() { # C compiler, C++ compiler, folder
    for program in agent client; do
        check "docs/snippets/c/$program.c with $1" "$1" -std=c99 -g -O1 $flags $warnings -Iinclude \
            docs/snippets/c/$program.c $library -o "$3/c-$program"
        check "docs/snippets/cpp/$program.cpp with $2" "$2" -std=c++17 -g -O1 $flags $warnings -Iinclude \
            docs/snippets/cpp/$program.cpp $library -o "$3/cpp-$program"
    done
}

# No function of the C interface is forgotten. Where one does what another does as well, the other is enough.
complete() {
    for function in $(sed -n 's/^[A-Za-z].*[ *]\(acp_[a-z0-9_]*\)(.*/\1/p' include/acp.h include/acp_files.h); do
        case $function in
        acp_text | acp_bytes | acp_equal | acp_connection_request) ;;
        acp_*_value | acp_member_of | acp_writer_members | acp_string_* | acp_json_string_copy) ;;
        *) grep -q "\b$function\b" include/*.hpp || echo "include/*.hpp: $function is missing" ;;
        esac
    done > "$folder/missing"
    cat "$folder/missing"
    [ ! -s "$folder/missing" ]
}

if [ $mode = plain ]; then
    check "all of acp.h and acp_files.h" complete
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
                tests/cpp/*.cpp $with_files -o "$folder/tests"
            play $under "$folder/tests"
        done
        examples "$cc" "$cxx" "$folder/$cc"
        lasting "$cxx" "$folder/$cc"
        copied "$cc" "$cxx" "$folder/$cc"
    fi
done
# Not under valgrind, as it is time that they are about.
[ "$under" ] || play python3 tests/cpp/copied.py "$folder/gcc"
set -- "$folder/gcc" ${curl:+--serve target/debug/acp}
if [ "$under" ]; then
    play python3 tests/cpp/hosts.py "$@" --under "$under"
else
    play python3 tests/cpp/hosts.py "$@"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
