"""Columns of values to columns of text: the vectorised printers that formats choose among.

`template` joins constants and columns; `columns` takes columns apart for printers; the others are named for
the system that prints that way (`java`, `mysql`, `postgresql`) or for the values that they print (`decimals`,
`timestamps`, `base64`).
"""
