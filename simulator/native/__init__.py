"""The compiled part: a small C library that writes messages, called through ctypes on Arrow's and NumPy's buffers.

`write.c` runs programs, `program.py` makes them of pieces, `library.py` finds the library. Everything works without it,
several times slower: `simulator.text.template` and `simulator.wire.avro` say what it must write, and do it in Arrow
where it is missing or where CDCSIM_PURE is set.
"""
