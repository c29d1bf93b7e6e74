"""The closed form: who takes part in a turn (`slots`), when (`timeline`), what happens to a row (`program`, `history`).

`stream` makes blocks of changes of it. Read `slots`, then `stream`.
"""
