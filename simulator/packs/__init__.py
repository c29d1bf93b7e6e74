"""Packs: a run as one zip file, for tests in any language: its messages, and the rows that a consumer must hold after
them. `pack.py` writes one; `readers` has a reader for Java and one for Go, each a file to copy."""
