"""Bodies of triggers, procedures and functions: parsed when they are first run. Read `parse`, then `run`."""
