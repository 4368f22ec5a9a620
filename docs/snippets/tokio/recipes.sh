cargo build --bins
export RECIPES_TOKEN=t RECIPES_STORE="$(mktemp -d)"
target/debug/client target/debug/agent
target/debug/client target/debug/agent
rm -r "$RECIPES_STORE"
