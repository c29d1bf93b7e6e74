"""Columns of values to columns of text: the vectorised printers that formats choose among.

`template` joins constants and columns; `fixed_width` copies texts of one width from tables; the others are named for
the system that prints that way (`java`, `mysql`, `postgresql`) or for the values that they print (`decimals`,
`timestamps`, `base64`).
"""
