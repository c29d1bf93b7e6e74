"""The compiled part: a small C library, called through ctypes on Arrow's and NumPy's buffers.

`write.c` runs programs, which `program.py` makes of pieces; `draws.c` draws columns for `draws.py`, and `traffic.c`
finds slots and places of turns for `traffic.py`; `calls.c` hands messages to librdkafka and, with
`calls.py`, takes them from it; `build.py` compiles all C files of this folder into one library, and `library.py` finds
it. Everything works without it, several times slower: `simulator.text.template`, `simulator.wire.avro`, the generators
and the engine of streams say what it must do, and do it with Arrow and NumPy where it is missing or where CDCSIM_PURE
is set.
"""
