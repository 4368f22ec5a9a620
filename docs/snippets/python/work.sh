pip install libacp
python watch.py
