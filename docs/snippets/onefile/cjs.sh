npx esbuild agent.mjs --bundle --platform=node --format=cjs --outfile=bundle/agent.cjs
