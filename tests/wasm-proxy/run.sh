#!/bin/sh
# Builds the example proxy and runs it in its hosts, with wasmtime in a virtual environment under target/ and with Node.
set -eu
cd "$(dirname "$0")/../.."
cargo build --quiet --package libacp-wasm-proxy --target wasm32-unknown-unknown --profile wasm
venv=target/wasm-proxy
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --requirement tests/wasm-plain/requirements.txt
exec "$venv/bin/python" tests/wasm-proxy/test_proxy.py target/wasm32-unknown-unknown/wasm/acp_proxy.wasm \
  examples/wasm-proxy/host.py examples/wasm-proxy/host.mjs
