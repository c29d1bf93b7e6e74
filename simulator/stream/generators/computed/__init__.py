"""Values computed from the row's place and past, and from other values."""
