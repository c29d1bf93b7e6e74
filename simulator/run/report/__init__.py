"""Reports of a run, done or planned: its account, record, counters for Prometheus, and estimate."""
