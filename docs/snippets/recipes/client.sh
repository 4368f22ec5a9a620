pip install libacp
export RECIPES_TOKEN=t RECIPES_STORE="$(mktemp -d)"
python client.py python agent.py
python client.py python agent.py
rm -r "$RECIPES_STORE"
