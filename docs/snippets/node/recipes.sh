npm install libacp
export RECIPES_TOKEN=t RECIPES_STORE="$(mktemp -d)"
node recipes-client.mjs node recipes-agent.mjs
node recipes-client.mjs node recipes-agent.mjs
rm -r "$RECIPES_STORE"
