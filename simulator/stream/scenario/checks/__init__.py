"""Rules of a scenario that need more than one key to judge. Each failure is one sentence at the key that is wrong."""
