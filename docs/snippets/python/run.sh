pip install libacp
python client.py
