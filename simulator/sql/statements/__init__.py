"""Statements run in a session, a module for each kind. Read `execute` first."""
