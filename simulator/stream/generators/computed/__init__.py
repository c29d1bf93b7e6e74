"""Values computed from the row's number and history, and from other values."""
