"""A consumer's tables compared with the rows that must be there, at a position or while the consumer runs."""
