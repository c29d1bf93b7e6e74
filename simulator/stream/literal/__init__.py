"""Streams of literal changes: transactions whose rows are written out in a scenario's script."""
