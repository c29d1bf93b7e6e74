"""Which slot does which turn touch: arithmetic and tables only, both ways."""
