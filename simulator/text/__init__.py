"""Columns of values to columns of text: the vectorised printers that formats choose among.

`template` joins constants and columns; `fixed_width` copies texts of one width from tables; the rest is named for who
prints that way (`java`, `mysql`, `postgresql`) or for what is printed (`decimals`, `timestamps`, `base64`).
"""
