"""The closed form: the slot of a turn (`traffic`), its time (`timeline`), its changes (`program`, `history`).

`stream` turns it into blocks of changes. Read `traffic`, then `stream`.
"""
