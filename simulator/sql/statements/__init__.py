"""One statement: which kind it is, and the kinds that change no table. Read `execute` first."""
