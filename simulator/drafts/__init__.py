"""Scenarios drafted from what people have: SQL dumps and DDL. `draft` in `scenario.py` is where it begins."""
