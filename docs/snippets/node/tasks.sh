npm install libacp
export TASKS_STORE="$(mktemp -d)"
node tasks.mjs node tasks-agent.mjs
cat tasks.txt
rm -r "$TASKS_STORE" tasks.txt
