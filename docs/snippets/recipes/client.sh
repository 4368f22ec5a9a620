pip install libacp
export RECIPES_TOKEN=t
python client.py python agent.py
python client.py python agent.py
