pip install libacp
python harness.py python echo.py
python harness.py python -c "exit('no key')" | tail -n 1
