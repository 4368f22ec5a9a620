pip install libacp
export TASKS_STORE="$(mktemp -d)"
python tasks.py python tasks_agent.py
cat tasks.txt
rm -r "$TASKS_STORE" tasks.txt
