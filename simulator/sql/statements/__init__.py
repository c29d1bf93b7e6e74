"""Dispatch of statements by their kind, and statements that change no table. Read `execute` first."""
