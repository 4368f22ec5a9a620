#!/bin/sh
# Builds libacp.wasm and drives it with wasmtime, in a virtual environment under target/. Needs cargo and Python 3.9+.
set -eu
cd "$(dirname "$0")/../.."
cargo build --quiet --package libacp-ffi --target wasm32-unknown-unknown --profile wasm
venv=target/wasm-plain
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --requirement tests/wasm-plain/requirements.txt
out=target/wasm32-unknown-unknown/wasm
cp "$out/acp.wasm" "$out/libacp.wasm"
exec "$venv/bin/python" tests/wasm-plain/test_plain.py "$out/libacp.wasm" include/acp.h tests/interop/script.json
