cargo build --bins
export TASKS_STORE="$(mktemp -d)"
target/debug/tasks target/debug/tasks-agent
cat tasks.txt
rm -r "$TASKS_STORE" tasks.txt
