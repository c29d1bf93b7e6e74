"""Schemas that messages refer to by id, as in Confluent's wire format: a zero, the id in four bytes, then the datum.

`ids.py` numbers schemas and finds them again; ids come from a schema registry or a file of its schemas
(`registered.py`), or, without either, from the schemas themselves.
"""
