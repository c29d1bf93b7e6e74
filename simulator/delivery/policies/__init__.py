"""Ways to spread rows over partitions, a module each; a product declares which of them it offers, and with what.

`single` (one partition for all), `by_name` (a hash of the table's name), `by_text` (a hash of column values put
together), `by_xor` (the hashes of column values, combined), `by_client` (the broker client hashes the key).
"""
