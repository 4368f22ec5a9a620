#!/bin/sh
# Builds the example proxy in a folder of its own, as somebody who has copied it, and runs it in its hosts, with wasmtime in a
# virtual environment under target/ and with Node.
set -eu
cd "$(dirname "$0")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R examples/wasm-proxy/. rust-toolchain.toml "$copy"
# This tree's crate in the place of the registry's.
(cd "$copy" && CARGO_TARGET_DIR="$OLDPWD/target/wasm-proxy/copy" cargo build --quiet --release \
  --target wasm32-unknown-unknown --config "patch.crates-io.libacp.path=\"$OLDPWD/core\"")
venv=target/wasm-proxy
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --requirement tests/wasm-plain/requirements.txt
"$venv/bin/python" tests/wasm-proxy/test_proxy.py "$venv/copy/wasm32-unknown-unknown/release/acp_proxy.wasm" \
  examples/wasm-proxy/host.py examples/wasm-proxy/host.mjs
