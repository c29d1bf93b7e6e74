"""PostgreSQL as the engine of a script. Read `run` first.

| module | holds |
| --- | --- |
| `client` | a script as `psql` takes it apart |
| `cluster` | the server that comes as a wheel, in a folder of its own |
| `connection` | sessions on the server, and what is expected of it |
| `decoding` | what makes the server log changes and DDL: publication, slot, event triggers |
| `pgoutput` | messages of the decoding plugin |
| `tables`, `rows` | tables of the server's catalog as ours, and their rows |
| `history` | the log as literal transactions |
| `run` | a script's run on the server |
"""
