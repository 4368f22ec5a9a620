npx esbuild worker.mjs --bundle --platform=browser --format=esm --external:node:worker_threads --outfile=bundle/worker.mjs
