npx esbuild agent.mjs --bundle --platform=node --format=esm --outfile=bundle/agent.mjs
