"""Rules that involve several keys of a scenario. Each failure is one sentence at the wrong key."""
