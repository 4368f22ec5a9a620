pip install libacp
python cells.py
