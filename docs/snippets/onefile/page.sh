npx esbuild app.js --bundle --minify --format=esm --outdir=site
cp node_modules/libacp/dist/libacp_core_bg.wasm index.html site
