"""Alibaba Canal, open source: `json` is its flat message, on which the Canal format of DTS stands."""
