"""`cdcsim hunt`: the search for a history that breaks a consumer, and its reduction to a few changes.

A `Case` names a piece of a stream by numbers and settings alone (`case.py`), so any process can make its messages and
the rows that they end in (`history.py`). `cases.py` proposes cases, `trial.py` runs one against a consumer
(`consumer.py`) and compares its tables, `shrink.py` makes a failing case smaller by asking again, `hunt.py` leads the
search, and `regression.py` writes what it found as a file and a test.
"""
