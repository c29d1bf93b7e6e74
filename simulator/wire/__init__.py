"""Encoders to bytes. They know no vendor: flavours are data that vendors choose among."""
