"""Bodies of triggers, procedures and functions: parsed at their first run. Read `parse`, then `run`."""
