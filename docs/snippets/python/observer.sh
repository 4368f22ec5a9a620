pip install libacp
python observer.py
