bun build --compile agent.mjs --outfile bundle/agent
