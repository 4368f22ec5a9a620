pip install libacp
python test_agent.py 2>&1 | tail -n 1
