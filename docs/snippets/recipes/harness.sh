pip install libacp
python harness.py python echo.py
