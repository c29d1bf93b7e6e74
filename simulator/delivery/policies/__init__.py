"""Partition policies, one module each; a product declares which of them it offers, and with which settings.

`single` (one partition for all), `names` (a hash of the table's name), `texts` (a hash of joined column values),
`xor` (the XOR of the hashes of column values), `client` (the broker client hashes the key).
"""
