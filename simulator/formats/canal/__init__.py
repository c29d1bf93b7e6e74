"""Alibaba Canal (open source): `json` is its flat message, the base of the Canal dialects of other products."""
