"""Encoders to bytes, independent of vendors: a format chooses flavours by data."""
