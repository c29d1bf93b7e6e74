"""Ways to spread rows over partitions, a module each; a product declares which of them it offers, and with what.

`single` (one partition for all), `names` (a hash of the table's name), `texts` (a hash of column values put
together), `xor` (the hashes of column values, combined), `client` (the broker client hashes the key).
"""
