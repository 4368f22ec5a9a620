cargo build -p libacp-wasm-proxy --target wasm32-unknown-unknown --profile wasm
pip install libacp wasmtime
python docs/snippets/proxy/client.py
