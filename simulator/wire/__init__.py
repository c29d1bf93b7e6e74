"""How bytes are written. Knows no vendor: flavours are data, vendors choose among them."""
