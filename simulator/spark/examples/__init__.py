"""Programs to begin with: a lake table with its current rows, and a stream that keeps a table."""
